import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { deliveryStates, proofs, stateAfter, transitions, type Outcome } from "../src/model/delivery.ts";
import { errorCodes, type ErrorCode } from "../src/model/errors.ts";

/** The reference pages say what the code says. */
const page = (name: string): string => readFileSync(join(import.meta.dir, "../docs", name), "utf8");

/** The cells of each row of a Markdown table whose first cell is `code`. */
function rowsOf(markdown: string): { word: string; cells: string[] }[] {
  return [...markdown.matchAll(/^\| `(\w+)`(.*)\|$/gm)].map(([, word, rest]) => ({
    word: word!,
    cells: rest!
      .split(/(?<!\\)\|/)
      .slice(1)
      .map((cell) => cell.trim()),
  }));
}

function section(markdown: string, heading: string): string {
  const after = markdown.split(`\n## ${heading}\n`)[1];
  expect(after, `a section "${heading}"`).toBeDefined();
  return after!.split("\n## ")[0]!;
}

describe("docs/states.md", () => {
  const states = page("states.md");

  test("draws exactly the transitions of the table", () => {
    const drawn = [...states.matchAll(/^ +(\S+) --> (\w+): (\w+)$/gm)].map(
      ([, from, to, verb]) => `${from === "[*]" ? null : from} ${verb} ${to}`,
    );
    const written = transitions.flatMap(([from, verb, targets]) => targets.map((to) => `${from} ${verb} ${to}`));
    expect(drawn.toSorted()).toEqual(written.toSorted());
  });

  test("explains every state once", () => {
    const explained = rowsOf(section(states, "Who moves a delivery out of each state")).map(({ word }) => word);
    expect(explained.toSorted()).toEqual([...deliveryStates].toSorted());
  });

  test("names the next state of every outcome", () => {
    const detail = "";
    const outcomes: Outcome[] = [
      { kind: "delivered", proof: "screen" },
      { kind: "delivered", proof: "transcript" },
      { kind: "held", hold: { reason: "busy", detail } },
      ...(["gone", "error", "absent", "unknown", "discarded", "removed"] as const).map((kind): Outcome => ({
        kind,
        detail,
      })),
    ];
    const told = rowsOf(section(states, "What an attempt can report")).map(({ word, cells }) => [
      word,
      /`(\w+)`/.exec(cells[0]!)![1]!,
      cells[1]!,
    ]);
    expect(told).toEqual(
      outcomes.map((outcome) => {
        const { state, attempts } = stateAfter(outcome, 0);
        return [outcome.kind, state, attempts === 0 ? "the same" : "+ 1"];
      }),
    );
  });

  test("lists the proofs from weakest to strongest", () => {
    expect(states).toContain(proofs.map((proof) => `\`${proof}\``).join(" < "));
  });
});

describe("docs/errors.md", () => {
  const rows = rowsOf(page("errors.md"));
  const words = { permanent: "no", transient: "yes", unknown: "unknown" } as const;

  test("lists every code once", () => {
    expect(rows.map(({ word }) => word).toSorted()).toEqual(Object.keys(errorCodes).toSorted());
  });

  test.each(rows.map(({ word, cells }) => [word as ErrorCode, cells] as const))(
    "%s: cause, remedy, exit code, HTTP status",
    (code, cells) => {
      const [cause, remedy, exit, http, again] = cells;
      expect(cause).toMatch(/\.$/);
      expect(remedy).toMatch(/\.$/);
      expect({ exit: Number(exit), http: Number(http), again }).toEqual({
        exit: errorCodes[code].exit,
        http: errorCodes[code].http,
        again: words[errorCodes[code].type],
      });
    },
  );
});

describe("docs/failure-modes.md", () => {
  const rows = [...page("failure-modes.md").matchAll(/^\| (\d+) \|(.*)\|$/gm)].map(
    ([, number, cells]) => [Number(number), cells!.split(" | ").at(-1)!] as const,
  );

  test("numbers its rows without a gap", () => {
    expect(rows.map(([number]) => number)).toEqual(Array.from({ length: 38 }, (_, at) => at + 1));
  });

  test.each(rows)("%i: its tests are there, under these names", (_, tests) => {
    for (const [file, names] of testsIn(tests)) {
      const source = inOnePiece(readFileSync(join(import.meta.dir, "..", file), "utf8"));
      for (const name of names) expect(isNamed(source, name), `${file} has "${name}"`).toBe(true);
    }
  });

  /** `file` "name", "name"; `file` "name" */
  function testsIn(cell: string): [file: string, names: string[]][] {
    const found = [...cell.matchAll(/`([^`]+\.test\.ts)`((?:,? "[^"]+")+)/g)].map(
      ([, file, names]): [string, string[]] => [file!, [...names!.matchAll(/"([^"]+)"/g)].map(([, name]) => name!)],
    );
    expect(found.map(([file, names]) => `\`${file}\` ${names.map((name) => `"${name}"`).join(", ")}`).join("; ")).toBe(
      cell.trim(),
    );
    return found;
  }

  /** Long names are written as several strings. */
  const inOnePiece = (source: string): string => source.replaceAll(/" \+\n\s*"/g, "");

  const isNamed = (source: string, name: string): boolean =>
    ['"', "`"].some((mark) => source.includes(`${mark}${name}${mark}`));
});
