import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { namePattern } from "./agent.ts";
import { isTag, tagOf, uuidv7 } from "./ids.ts";

const timeMs = fc.integer({ min: 0, max: 2 ** 48 - 1 });
const bytes = fc.uint8Array({ minLength: 16, maxLength: 16 });
const name = fc.stringMatching(namePattern);

describe("uuidv7", () => {
  test("has the form of a version 7 UUID for any time and any random bytes", () => {
    fc.assert(
      fc.property(timeMs, bytes, (now, random) => {
        expect(uuidv7(now, () => random.slice())).toMatch(
          /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
        );
      }),
    );
  });

  test("carries the time", () => {
    fc.assert(
      fc.property(timeMs, bytes, (now, random) => {
        const hex = uuidv7(now, () => random.slice())
          .replaceAll("-", "")
          .slice(0, 12);
        expect(Number.parseInt(hex, 16)).toBe(now);
      }),
    );
  });

  test("sorts by the moment it was made", () => {
    fc.assert(
      fc.property(timeMs, timeMs, bytes, bytes, (first, second, a, b) => {
        fc.pre(first < second);
        expect(uuidv7(first, () => a.slice()) < uuidv7(second, () => b.slice())).toBe(true);
      }),
    );
  });

  test("ten thousand of one millisecond differ", () => {
    expect(new Set(Array.from({ length: 10_000 }, () => uuidv7(1_800_000_000_000))).size).toBe(10_000);
  });
});

describe("tags", () => {
  test("name the sender in capitals and end in the random tail of the id", () => {
    expect(tagOf("user", "01a3185c-5001-7000-8000-0000017f3a91") as string).toBe("MSG_USER_017f3a91");
    expect(tagOf("code-reviewer", "01a3185c-5001-7000-8000-0000017f3a91") as string).toBe("MSG_CODE_REVIEWER_017f3a91");
  });

  test("are tags for every valid name", () => {
    fc.assert(
      fc.property(name, timeMs, bytes, (sender, now, random) => {
        const id = uuidv7(now, () => random.slice());
        const tag = tagOf(sender, id);
        expect(isTag(tag)).toBe(true);
        expect(tag.endsWith(id.slice(-8))).toBe(true);
      }),
    );
  });

  test("are distinguished from ids, names and near misses", () => {
    for (const text of [
      "",
      "MSG_USER",
      "MSG__7f3a91c2x",
      "MSG_USER_7F3A91C2",
      "msg_user_7f3a91c2",
      "MSG_USER_7f3a91c",
      " MSG_USER_7f3a91c2",
      "MSG_USER_7f3a91c2\n",
      uuidv7(0),
      "user",
    ]) {
      expect(isTag(text), JSON.stringify(text)).toBe(false);
    }
  });
});
