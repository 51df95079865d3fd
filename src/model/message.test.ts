import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Delivery } from "./delivery.ts";
import { agentId, isTag, type MessageId } from "./ids.ts";
import {
  kinds,
  longestTtlMs,
  maxBodyBytes,
  rankOf,
  sameContent,
  seal,
  sealBounce,
  wakes,
  whens,
  type Draft,
  type Message,
  type Sender,
} from "./message.ts";
import { maxSummaryLength, summarise } from "./summary.ts";

const user: Sender = { id: agentId("user"), name: "user", team: "web", knownBy: "user" };
const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const clock = (): number => 1_800_000_000_000;
const message = (draft: Partial<Draft> = {}, from = user, inReplyTo: Message | null = null): Message =>
  seal({ to: "bob", body: "hello", ...draft }, from, { inReplyTo, hops: 1 }, { clock });
const toBob = { agentName: "bob" } as Delivery;

describe("sealing", () => {
  test("fills in what the draft leaves open", () => {
    const sealed = message();
    expect(sealed).toMatchObject({
      kind: "text",
      when: "turn",
      hard: false,
      starts: false,
      expectsReply: false,
      inReplyTo: null,
      expiresAt: null,
      idempotencyKey: null,
      team: "web",
      acceptedAt: clock(),
    });
    expect(sealed.thread).toBe(sealed.id);
    expect(isTag(sealed.tag)).toBe(true);
  });

  test("two sealings of one draft are two messages", () => {
    expect(message().id).not.toBe(message().id);
  });

  test("a reply stays in the thread of its first message", () => {
    const first = message();
    const second = message({}, ana, first);
    const third = message({}, user, second);
    expect([second.thread, third.thread]).toEqual([first.id, first.id]);
    expect(third.inReplyTo).toBe(second.id);
  });

  test("a time to live counts from acceptance", () => {
    expect(message({ ttlMs: 1_000 }).expiresAt).toBe(clock() + 1_000);
    expect(message({ ttlMs: longestTtlMs }).expiresAt).toBe(clock() + longestTtlMs);
  });

  test.each([0, -1, 1.5, Number.NaN, Infinity, longestTtlMs + 1, 2 ** 53])(
    "a time to live of %d is refused with the range",
    (ttlMs) => {
      expect(() => message({ ttlMs })).toThrow(
        "must be a whole number of milliseconds from 1 to 31622400000 (366 days)",
      );
    },
  );

  test("the body is kept as it is, character for character", () => {
    fc.assert(
      fc.property(
        fc
          .string({ unit: "binary" })
          .filter((body) => body.trim() !== "" && body.isWellFormed() && !body.includes("\0")),
        (body) => {
          expect(message({ body }).body).toBe(body);
        },
      ),
    );
  });

  test.each<[string, string, string]>([
    ["nothing", "", "BODY_EMPTY"],
    ["only white space", " \n\t ", "BODY_EMPTY"],
    ["half a character", "a\ud800b", "BODY_NOT_TEXT"],
    ["a NUL", "a\0b", "BODY_NOT_TEXT"],
    ["one byte too many", "x".repeat(maxBodyBytes + 1), "BODY_TOO_LONG"],
    ["too many bytes in few characters", "漢".repeat(maxBodyBytes / 2), "BODY_TOO_LONG"],
  ])("%s is refused", (_, body, code) => {
    expect(() => message({ body })).toThrow(expect.objectContaining({ code, remedy: expect.stringMatching(/./) }));
  });

  test("the longest body is accepted", () => {
    expect(message({ body: "x".repeat(maxBodyBytes) }).body).toHaveLength(maxBodyBytes);
  });
});

describe("summaries", () => {
  test("are one line of at most the limit, whatever the body", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 400 }), (body) => {
        const summary = summarise(body);
        expect([...summary].length).toBeLessThanOrEqual(maxSummaryLength);
        expect(summary).not.toContain("\n");
        if (body.isWellFormed()) expect(summary.isWellFormed()).toBe(true);
      }),
    );
  });

  test("are the first line, spaces evened out, cut between characters", () => {
    expect(summarise("\n  the  login\ttest fails \nmore")).toBe("the login test fails");
    expect(summarise("🎉".repeat(200))).toBe(`${"🎉".repeat(maxSummaryLength - 1)}…`);
  });
});

describe("bounces", () => {
  test("tell the sender what was lost, why, and what to do", () => {
    const lost = message({}, ana);
    const bounce = sealBounce(lost, toBob, "it expired", { clock })!;
    expect(bounce).toMatchObject({
      kind: "bounce",
      to: "ana",
      inReplyTo: lost.id,
      thread: lost.thread,
      from: { id: agentId("tieline"), knownBy: "switch" },
    });
    expect(bounce.body).toContain(`${lost.tag} to bob was not delivered: it expired`);
    expect(bounce.body).toContain(`tieline retry ${lost.tag}`);
  });

  test("the user is addressed as user", () => {
    expect(sealBounce(message({}, { ...user, name: "alias" }), toBob, "x")!.to).toBe("user");
  });

  test("a bounce never bounces, and acks are not missed", () => {
    expect(sealBounce(sealBounce(message(), toBob, "x")!, toBob, "y")).toBeNull();
    expect(sealBounce(message({ kind: "ack" }), toBob, "x")).toBeNull();
    expect(kinds.filter((kind) => !wakes(kind))).toEqual(["ack", "bounce"]);
  });
});

test("two sends are the same only when they say the same", () => {
  const one = message({ idempotencyKey: "k" });
  expect(sameContent(one, message({ idempotencyKey: "k" }))).toBe(true);
  expect(sameContent(one, message({ summary: "another" }))).toBe(true);
  for (const other of [{ to: "cy" }, { body: "bye" }, { kind: "ack" }, { when: "tool" }] as const)
    expect(sameContent(one, message(other))).toBe(false);
  expect(sameContent(one, { ...message(), inReplyTo: "m" as MessageId })).toBe(false);
});

test("urgent mail ranks before the rest", () => {
  expect(whens.toSorted((a, b) => rankOf(a) - rankOf(b))).toEqual(["interrupt", "tool", "turn"]);
});
