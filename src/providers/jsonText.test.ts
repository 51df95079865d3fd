import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parse } from "jsonc-parser";
import { changedText, commentsIn, parsedObject } from "./jsonText.ts";

const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(1, 2, "a", "b", true, null),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom("a", "b", "c", "d"), tie("value"), { maxKeys: 3, noNullPrototype: true }),
  ),
})).value;
const object = fc.dictionary(fc.constantFrom("a", "b", "c", "d"), value, { maxKeys: 4, noNullPrototype: true });

describe("changing the text of a JSON file", () => {
  test("gives the wanted values, whatever they were", () => {
    fc.assert(
      fc.property(object, object, fc.constantFrom(0, 2, "\t"), (from, to, indent) => {
        const text = JSON.stringify(from, null, indent);
        expect(parsedObject(changedText(text, from, to))).toEqual(to);
      }),
      { numRuns: 500 },
    );
  });

  test("keeps comments, order and formatting of everything else", () => {
    const text = `{
    // the model
    "model": "opus", // not sonnet
    "hooks": {
        /* audits */
        "PreToolUse": [ { "matcher": "Bash", "hooks": [ { "command": "audit" } ] } ], // keep
    },
}
`;
    const from = parse(text) as { hooks: { PreToolUse: unknown[] } };
    const to = {
      ...from,
      hooks: { PreToolUse: [...from.hooks.PreToolUse, { hooks: [{ command: "ours" }] }], Stop: [{ hooks: [] }] },
    };
    const changed = changedText(text, from, to);
    expect(parsedObject(changed)).toEqual(to);
    expect(commentsIn(changed)).toEqual(["// the model", "// not sonnet", "/* audits */", "// keep"]);
    expect(changed).toStartWith(text.slice(0, text.indexOf("} ], // keep")));
    expect(parsedObject(changedText(changed, to, from))).toEqual(from);
    expect(commentsIn(changedText(changed, to, from))).toEqual(commentsIn(text));
  });
});
