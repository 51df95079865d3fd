import { describe, expect, test } from "bun:test";
import { TielineError } from "../../model/errors.ts";
import { command, parse } from "./args.ts";
import events from "../commands/events.ts";
import { clockTime, count, durationMs, isoTime, pastMoment, positiveDurationMs, span } from "./times.ts";

const sample = command({
  name: "sample",
  group: "Messages",
  summary: "for the test",
  usage: ["sample <to> [message…]"],
  args: [
    { name: "to", summary: "" },
    { name: "message", optional: true, many: true, summary: "" },
  ],
  flags: {
    file: { short: "f", value: "FILE", summary: "" },
    stdin: { short: "", summary: "" },
    when: { value: "WHEN", choices: ["turn", "tool"], summary: "" },
    ttl: { value: "TIME", parse: positiveDurationMs, summary: "" },
    hard: { summary: "" },
  },
  examples: [],
  run: async () => 0,
});

const pick = command({
  ...sample,
  args: [{ name: "shell", choices: ["bash", "zsh"], summary: "" }],
  flags: { name: { value: "NAME", required: true, summary: "" } },
  run: async () => 0,
});

const good: [string[], object, object][] = [
  [["ana"], { to: "ana", message: [] }, {}],
  [["ana", "hi", "you"], { to: "ana", message: ["hi", "you"] }, {}],
  [["--hard", "ana", "hi", "--json"], { to: "ana", message: ["hi"] }, { hard: true, json: true }],
  [["ana", "-f", "x"], { to: "ana", message: [] }, { file: "x" }],
  [["ana", "-f", "-"], { to: "ana", message: [] }, { file: "-" }],
  [["ana", "--file=x=y"], { to: "ana", message: [] }, { file: "x=y" }],
  [["ana", "--file="], { to: "ana", message: [] }, { file: "" }],
  [["ana", "-"], { to: "ana", message: [] }, { stdin: true }],
  [["ana", "--", "-"], { to: "ana", message: ["-"] }, {}],
  [["ana", "--", "-x", "--hard", "--"], { to: "ana", message: ["-x", "--hard", "--"] }, {}],
  [["--", "ana", "--help"], { to: "ana", message: ["--help"] }, {}],
  [["ana", "--when", "tool", "--ttl", "2m"], { to: "ana", message: [] }, { when: "tool", ttl: 120_000 }],
  [["ana", "", "x"], { to: "ana", message: ["", "x"] }, {}],
  [["ana", "--team", "web"], { to: "ana", message: [] }, { team: "web" }],
  [["ana", "--nonsense", "-h"], {}, { help: true }],
];

const bad: [typeof sample | typeof pick, string[], RegExp][] = [
  [sample, [], /<to> is missing/],
  [sample, ["ana", "--hrad"], /unknown flag --hrad; did you mean "--hard"\?/],
  [sample, ["ana", "-x"], /unknown flag -x/],
  [sample, ["ana", "-v is verbose"], /unknown flag -v is verbose/],
  [sample, ["ana", "--file"], /--file needs a value: --file FILE/],
  [sample, ["ana", "--hard=yes"], /--hard takes no value/],
  [sample, ["ana", "--when", "soon"], /--when is one of turn, tool; not "soon"/],
  [sample, ["ana", "--ttl", "soon"], /--ttl: "soon" is not a duration/],
  [sample, ["ana", "--ttl", "0"], /zero/],
  [pick, ["bash"], /--name NAME is missing/],
  [pick, ["tcsh", "--name", "x"], /shell is one of bash, zsh; not "tcsh"/],
  [pick, ["bash", "more", "--name", "x"], /unexpected "more"/],
];

describe("parse", () => {
  test.each(good)("%j", async (argv, args, flags) => {
    expect(await parse(sample, argv)).toEqual({ args, flags } as never);
  });

  test.each(bad)("%# is refused with its reason", async (data, argv, reason) => {
    const error = await parse(data, argv).then(
      () => null,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(TielineError);
    expect((error as TielineError).code).toBe("USAGE");
    expect((error as TielineError).message).toMatch(reason);
  });
});

describe("times", () => {
  test.each([
    ["500ms", 500],
    ["5s", 5000],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["7d", 604_800_000],
    ["3", 3000],
    ["0.5", 500],
    ["1.5s", 1500],
  ])("%s is %d ms", (text, ms) => expect(durationMs(text)).toBe(ms));

  test.each(["", "s", "-1s", "5 s", "5x", "1e3", "٣s"])("%j is no duration", (text) =>
    expect(() => durationMs(text)).toThrow("not a duration"),
  );
  test.each(["", "-1", "1.5", "x", "99999999999"])("%j is no count", (text) =>
    expect(() => count(text)).toThrow("not a whole number"),
  );

  test.each([
    [-5, "0 ms"],
    [19, "19 ms"],
    [312, "0.3 s"],
    [12_000, "12 s"],
    [240_000, "4 min"],
    [7_200_000, "2 h"],
    [259_200_000, "3 d"],
  ])("%d ms reads %s", (ms, text) => expect(span(ms)).toBe(text));
});

test.each(["367d", "99999999999999999999d", "1e9", "-1s", "9007199254740992"])(
  "a duration of %s is refused",
  (text) => {
    expect(() => durationMs(text, "--timeout")).toThrow(/^--timeout: /);
  },
);

test("a duration that is too long is refused with the range; the past goes further back", () => {
  expect(() => positiveDurationMs("400d", "--ttl")).toThrow("--ttl: 400d is too long; the range is 0 to 366d");
  expect(positiveDurationMs("366d")).toBe(366 * 86_400_000);
  expect(pastMoment("400d")).toBeGreaterThan(0);
  expect(() => pastMoment("40000d", "--since")).toThrow("36500d");
});

test("a time that no calendar has is shown as it is", () => {
  expect([isoTime(0), isoTime(2 ** 53), isoTime(-(2 ** 53))]).toEqual([
    "1970-01-01T00:00:00.000Z",
    2 ** 53,
    -(2 ** 53),
  ]);
  expect(clockTime(2 ** 53, 0)).toBe("never");
});

describe("a moment in the past", () => {
  test.each([
    ["2026-11-15T16:00:00Z", Date.UTC(2026, 10, 15, 16)],
    ["2026-11-15", new Date(2026, 10, 15).getTime()],
    ["2026-11-15 16:00", new Date(2026, 10, 15, 16).getTime()],
  ])("%s", (text, at) => {
    expect(pastMoment(text)).toBe(at);
  });

  test("so long ago", () => {
    expect(Math.abs(Date.now() - 7_200_000 - pastMoment("2h"))).toBeLessThan(60_000);
  });

  test.each([["2026-13-45"], ["yesterday"], ["May 1"], ["0s"]])("%s is none", (text) => {
    expect(() => pastMoment(text, "--since")).toThrow("--since");
  });
});

test("an event that does not exist is refused, one of the first words is not", async () => {
  expect((await parse(events, ["--type", "delivery, route.denied"])).flags).toEqual({
    type: ["delivery", "route.denied"],
  } as never);
  await expect(parse(events, ["--type", "delivery.deliverd"])).rejects.toThrow(
    'there is no event "delivery.deliverd"; did you mean "delivery.delivered"',
  );
});
