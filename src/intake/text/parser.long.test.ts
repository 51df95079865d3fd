import { expect, test } from "bun:test";
import fc from "fast-check";
import { createTextParser } from "./parser.ts";
import { cutAt, transcript } from "../../testing/transcripts.ts";

const secret = "sekret";

/** A fenced passage with an address on every line; nothing in it ends the fence early. */
const fenced = fc
  .tuple(
    fc.constantFrom("```", "~~~~"),
    fc.array(fc.constantFrom("@a: ", "ASST: @all: ", "Done. @b: ", "<<SWARM_MSG:TO=a:START>>", "``", "> ")),
  )
  .map(([fence, starts]) => `\n${fence}\n${starts.map((start) => `${start}${secret}\n`).join("")}${fence}\n`);

test("100,000 transcripts: nothing throws, cuts change nothing, no message comes out of a fence", () => {
  fc.assert(
    fc.property(
      transcript,
      fenced,
      fc.array(fc.nat(600), { maxLength: 8 }),
      fc.constantFrom(20, 1 << 20),
      (text, code, cuts, maxContent) => {
        const all = text + code + text;
        const one = createTextParser({ maxContent });
        const many = createTextParser({ maxContent });
        const whole = [...one.push(all), ...one.end()];
        const parts = [...cutAt(all, cuts).flatMap((chunk) => many.push(chunk)), ...many.end()];
        if (JSON.stringify(parts) !== JSON.stringify(whole)) expect(parts).toEqual(whole);

        const fresh = createTextParser({ maxContent });
        expect([...fresh.push(code), ...fresh.end()]).toEqual([]);
      },
    ),
    { numRuns: 100_000 },
  );
}, 600_000);
