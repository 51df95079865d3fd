import { expect, test } from "bun:test";
import fc from "fast-check";
import { parseOutboxFile } from "./parse.ts";

const field = fc.constantFrom("to", "content", "broadcast", "id", "replyTo", "when", "__proto__", "constructor");
const value = fc.oneof(
  fc.constantFrom("coder", "@all", true, "turn", "", null),
  fc.string({ unit: "binary" }),
  fc.jsonValue({ maxDepth: 2 }),
);
const nearlyRight = fc
  .array(fc.tuple(field, value), { maxLength: 6 })
  .map((pairs) => `{${pairs.map(([key, of]) => `${JSON.stringify(key)}:${JSON.stringify(of)}`).join(",")}}`);
const broken = fc
  .tuple(nearlyRight, fc.nat(80), fc.string({ unit: "binary", maxLength: 3 }))
  .map(([text, at, junk]) => text.slice(0, at) + junk + text.slice(at));
const file = fc.oneof(
  nearlyRight.map((text) => new TextEncoder().encode(text)),
  broken.map((text) => new TextEncoder().encode(text)),
  fc.uint8Array({ maxLength: 100 }),
);

test("100,000 files: an entry of one of the two shapes, or a reason", () => {
  fc.assert(
    fc.property(file, (bytes) => {
      const parsed = parseOutboxFile(bytes);
      if (!parsed.ok) return parsed.reason !== "";
      const { entry } = parsed;
      expect(typeof entry.content).toBe("string");
      return "to" in entry ? /^@?[A-Za-z_][\w:-]*$/.test(entry.to) && !("broadcast" in entry) : entry.broadcast;
    }),
    { numRuns: 100_000 },
  );
}, 600_000);
