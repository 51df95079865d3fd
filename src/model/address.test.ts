import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { checkTeamName, formatAddress, isBroadcast, isTeamName, parseAddress, type Address } from "./address.ts";
import { namePattern } from "./agent.ts";

const name = fc.stringMatching(namePattern);
const team = fc.stringMatching(/^[A-Za-z0-9_][A-Za-z0-9_./-]*$/);
const address: fc.Arbitrary<Address> = fc.oneof(
  fc.record({ kind: fc.constant("name" as const), team: fc.option(team), name: fc.oneof(name, fc.uuid()) }),
  fc.nat().map((number) => ({ kind: "pane" as const, pane: `%${number}` })),
  fc.constantFrom<Address>({ kind: "all" }, { kind: "everyone" }),
  team.filter((one) => one !== "all").map((one) => ({ kind: "group" as const, name: one })),
);

describe("addresses", () => {
  test.each<[string, Address]>([
    ["engineer", { kind: "name", team: null, name: "engineer" }],
    ["feat-auth:engineer", { kind: "name", team: "feat-auth", name: "engineer" }],
    ["feat/auth:engineer", { kind: "name", team: "feat/auth", name: "engineer" }],
    [
      "01a3185c-5001-7000-8000-0000017f3a91",
      { kind: "name", team: null, name: "01a3185c-5001-7000-8000-0000017f3a91" },
    ],
    ["ana-2", { kind: "name", team: null, name: "ana-2" }],
    ["%14", { kind: "pane", pane: "%14" }],
    ["@all", { kind: "all" }],
    ["@web", { kind: "group", name: "web" }],
    ["*", { kind: "everyone" }],
    ["user", { kind: "name", team: null, name: "user" }],
    ["metrics", { kind: "name", team: null, name: "metrics" }],
  ])("%s", (text, parsed) => {
    expect(parseAddress(text)).toEqual(parsed);
  });

  test("what is formatted is parsed back as it was", () => {
    fc.assert(fc.property(address, (one) => expect(parseAddress(formatAddress(one))).toEqual(one)));
  });

  test("any text is either an address that reads as written or a refusal with the remedy", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.string({ unit: "binary" }), fc.stringMatching(/^[@%*:a-z0-9_./ -]{0,12}$/)),
        (text) => {
          let parsed: Address;
          try {
            parsed = parseAddress(text);
          } catch (refusal) {
            expect(refusal).toMatchObject({
              code: "ADDRESS_UNKNOWN",
              operands: { address: text },
              remedy: expect.stringContaining("team:name"),
            });
            return;
          }
          expect(formatAddress(parsed)).toBe(text);
        },
      ),
      { numRuns: 2_000 },
    );
  });

  test.each([
    "",
    " ",
    "@",
    "%",
    "%x",
    "1abc",
    "-n",
    "a b",
    "a;b",
    "a:",
    ":a",
    "a:b:c d",
    "@-x",
    "**",
    "engineer\n",
    "../etc",
    "a/b",
    "café",
    "$(id)",
    "%1 ",
  ])("%j is refused", (text) => {
    expect(() => parseAddress(text)).toThrow(expect.objectContaining({ code: "ADDRESS_UNKNOWN" }));
  });

  test("several recipients make a broadcast, one does not", () => {
    expect(["@all", "@web", "*"].map((text) => isBroadcast(parseAddress(text)))).toEqual([true, true, true]);
    expect(["ana", "web:ana", "%1", "user"].map((text) => isBroadcast(parseAddress(text)))).toEqual([
      false,
      false,
      false,
      false,
    ]);
  });
});

describe("team names", () => {
  test("branches and projects are team names; paths out of a directory begin with a mark and are not", () => {
    for (const good of ["web", "feat-auth", "feat/auth", "v1.2", "_x", "7"]) expect(checkTeamName(good)).toBe(good);
    for (const bad of ["", "../up", "/root", ".hidden", "-n", "a b", "a:b", "x".repeat(65), "a\n", "all", "team"]) {
      expect(isTeamName(bad), JSON.stringify(bad)).toBe(false);
      expect(() => checkTeamName(bad)).toThrow(expect.objectContaining({ code: "NAME_INVALID" }));
    }
  });
});
