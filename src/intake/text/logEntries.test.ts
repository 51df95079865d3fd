import { expect, test } from "bun:test";
import fc from "fast-check";
import { cutAt } from "../../testing/transcripts.ts";
import { createLogSplitter, type LogPiece } from "./logEntries.ts";

const log = `started
[2026-01-31 09:00:00] REQ: hello
@a: not this
[2026-01-31 09:00:01] RES: @coder: grün 😀
[not an entry]
[2026-01-31] neither
last line
[2026-01-31 09:00:02] TOOL: ls
[2026-01-31 09:00:03] RES:
second`;

/** The entries as [where, kind, text]. */
function collect(pieces: LogPiece[]) {
  const entries: { at: string; isResponse: boolean; bytes: number[] }[] = [];
  for (const piece of pieces) {
    if (piece.kind === "entry") {
      entries.push({ at: `${piece.offset} ${piece.loggedAt}`, isResponse: piece.isResponse, bytes: [] });
    } else entries.at(-1)!.bytes.push(...piece.bytes);
  }
  return entries.map(({ at, isResponse, bytes }) => [at, isResponse, Buffer.from(bytes).toString()]);
}

const bytes = Buffer.from(log);
const whole = [
  [`${bytes.indexOf("[2026-01-31 09:00:00")} 2026-01-31 09:00:00`, false, ""],
  [
    `${bytes.indexOf("[2026-01-31 09:00:01")} 2026-01-31 09:00:01`,
    true,
    "@coder: grün 😀\n[not an entry]\n[2026-01-31] neither\nlast line\n",
  ],
  [`${bytes.indexOf("[2026-01-31 09:00:02")} 2026-01-31 09:00:02`, false, ""],
  [`${bytes.indexOf("[2026-01-31 09:00:03")} 2026-01-31 09:00:03`, true, "\nsecond"],
];

test("passes on only the text of RES entries, each with its place", () => {
  expect(collect(createLogSplitter().push(bytes))).toEqual(whole as never);
});

test("however the file is cut", () => {
  const latin1 = bytes.toString("latin1");
  fc.assert(
    fc.property(fc.array(fc.nat(1000)), (cuts) => {
      const splitter = createLogSplitter();
      expect(collect(cutAt(latin1, cuts).flatMap((part) => splitter.push(Buffer.from(part, "latin1"))))).toEqual(
        whole as never,
      );
    }),
    { numRuns: 500 },
  );
});
