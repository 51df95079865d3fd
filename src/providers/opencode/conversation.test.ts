import { expect, test } from "bun:test";
import type { MessageId } from "../../model/ids.ts";
import { partId, progressOf, type ConversationEntry } from "./conversation.ts";

const message = "01a1df5c-cd49-777a-af28-1b2cfb9bad50" as MessageId;
const user = (id: string, part: string): ConversationEntry => ({
  info: { id, role: "user" },
  parts: [{ id: part, type: "text" }],
});
const answer = (id: string, ...types: string[]): ConversationEntry => ({
  info: { id, role: "assistant" },
  parts: types.map((type) => ({ id: `prt_${type}`, type })),
});
const ours = user("msg_2", partId(message, 7));

test("the state of a message follows from what comes after it", () => {
  const before = [user("msg_0", "prt_x"), answer("msg_1", "step-start")];
  expect(progressOf(message, before)).toEqual({ kind: "absent" });
  expect(progressOf(message, [...before, ours])).toEqual({ kind: "waiting", entry: "msg_2" });
  expect(progressOf(message, [...before, ours, answer("msg_3")])).toEqual({ kind: "asked" });
  expect(progressOf(message, [...before, ours, user("msg_4", "prt_y"), answer("msg_5", "step-start", "text")])).toEqual(
    { kind: "read" },
  );
});

test("the last attempt counts, and each has an id of its own", () => {
  expect(partId(message, 7)).not.toBe(partId(message, 8));
  expect(progressOf(message, [ours, answer("msg_3", "step-start"), user("msg_6", partId(message, 8))])).toEqual({
    kind: "waiting",
    entry: "msg_6",
  });
});
