import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import { userId } from "../model/agent.ts";
import type { Delivery, Proof } from "../model/delivery.ts";
import type { DeliveryId } from "../model/ids.ts";
import { seal } from "../model/message.ts";
import { claudeLines } from "../providers/claude-code/transcript.ts";
import { anAgent } from "../testing/agents.ts";
import { lackUnless, testUnless } from "../testing/needing.ts";
import { until } from "../testing/until.ts";
import { TranscriptWatcher } from "./transcriptWatcher.ts";

/** A mailbox, one agent with a transcript, and a watcher. */
function aCourt() {
  const folder = mkdtempSync(join(tmpdir(), "tl-transcriptWatcher-"));
  const path = join(folder, "session.jsonl");
  let named = path;
  let agent = anAgent({ name: "ana", provider: "claude-code", sessionId: "first" });
  const mailbox = openMailbox(memoryStore());
  const faults: unknown[] = [];
  const outages: string[] = [];
  const transcriptWatcher = new TranscriptWatcher({
    mailbox,
    agent: () => agent,
    transcript: ({ sessionId }) => ({
      conversation: sessionId,
      files: existsSync(named) ? [{ path: named, conversation: sessionId }] : [],
      below: [folder],
      reader: claudeLines,
    }),
    model: {
      failed: ({ name }, error) => void outages.push(`${name}: ${error}`),
      answered: () => void outages.push("answered"),
    },
    report: (_context, fault) => faults.push(fault),
  });
  transcriptWatcher.start();
  const becomes = (fits: (delivery: Delivery) => boolean, id: DeliveryId): Promise<void> =>
    new Promise((resolve) => {
      const look = (): void => {
        if (fits(mailbox.delivery(id)!)) resolve();
      };
      mailbox.onTransitions(look);
      look();
    });
  return {
    path,
    mailbox,
    transcriptWatcher,
    agent,
    faults,
    outages,
    /** The user begins another conversation. */
    clear: (sessionId: string) => {
      agent = { ...agent, sessionId };
      named = join(folder, `${sessionId}.jsonl`);
    },
    /** The program says that it writes somewhere else now. */
    move: (other: string) => void (named = other),
    async delivered(
      body: string,
      proof: Proof = "submitted",
      meanwhile: (tag: string) => Promise<void> = async () => undefined,
    ) {
      const message = seal(
        { to: "ana", body },
        { id: userId, name: "user", team: "web", knownBy: "user" },
        { inReplyTo: null, hops: 1 },
      );
      const { deliveries } = await mailbox.accept(message, [agent]);
      const { id } = deliveries[0]!;
      await mailbox.claim(id, { lane: "push", now: Date.now(), transport: "tmux" });
      await meanwhile(message.tag);
      await mailbox.settle(id, { kind: "delivered", proof, detail: "typed" }, { transport: "tmux", authority: "user" });
      return { message, id };
    },
    seen: (id: DeliveryId) => becomes((delivery) => delivery.state === "seen", id),
    becomes,
    async [Symbol.asyncDispose]() {
      await transcriptWatcher[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const line = (fields: object): string => `${JSON.stringify(fields)}\n`;
const answer = (): string =>
  line({
    type: "assistant",
    message: { id: crypto.randomUUID(), model: "claude", content: [{ type: "text", text: "ok" }] },
  });
const failure = (status: number): string =>
  line({
    type: "assistant",
    isApiErrorMessage: true,
    message: { model: "<synthetic>", content: [{ type: "text", text: `API Error: ${status} overloaded. Try again.` }] },
  });
const asked = (tag: string): string => line({ type: "user", message: { content: `[${tag} from user]` } });

test("a line of the conversation with the message is not proof yet; the model's answer behind it is", async () => {
  await using court = aCourt();
  const { message, id } = await court.delivered("first", "screen");
  writeFileSync(court.path, asked(message.tag));
  await court.becomes(({ proof }) => proof === "submitted", id);
  expect(court.mailbox.delivery(id)).toMatchObject({ state: "delivered", detail: "the conversation holds it" });
  appendFileSync(court.path, answer());
  await court.seen(id);
  expect(court.mailbox.delivery(id)).toMatchObject({ proof: "transcript" });
});

test(
  "the model's API fails: delivered, with a warning that names the error, told once; the next prompt takes it " +
    "along",
  async () => {
    await using court = aCourt();
    const first = await court.delivered("first");
    writeFileSync(court.path, asked(first.message.tag) + failure(529));
    await court.becomes(({ warning }) => warning !== null, first.id);
    expect(court.mailbox.delivery(first.id)).toMatchObject({
      state: "delivered",
      warning: "the model's API failed: 529 overloaded; the text is in the conversation and goes with the next prompt",
    });
    appendFileSync(court.path, failure(529));
    const second = await court.delivered("second");
    appendFileSync(court.path, asked(second.message.tag) + answer());
    await Promise.all([court.seen(first.id), court.seen(second.id)]);
    expect(court.mailbox.delivery(first.id)).toMatchObject({ state: "seen", warning: null, detail: null });
    expect(court.outages).toEqual(["ana: 529 overloaded", "answered"]);
  },
);

test("the conversation is cleared before the model read it: discarded, and its sender gets a bounce", async () => {
  await using court = aCourt();
  const { message, id } = await court.delivered("first");
  writeFileSync(court.path, asked(message.tag) + failure(529));
  await court.becomes(({ warning }) => warning !== null, id);
  court.clear("second");
  writeFileSync(join(dirname(court.path), "second.jsonl"), line({ type: "user", message: { content: "/clear" } }));
  await court.becomes(({ state }) => state === "failed", id);
  expect(court.mailbox.delivery(id)!.detail).toBe("the conversation was left for another one before the model read it");
  expect(court.mailbox.log({ thread: message.thread }).at(-1)!.message.kind).toBe("bounce");
});

test("a copy of the conversation that holds it is no reason to give it up", async () => {
  await using court = aCourt();
  const { message, id } = await court.delivered("first");
  writeFileSync(court.path, asked(message.tag) + failure(529));
  await court.becomes(({ warning }) => warning !== null, id);
  court.clear("copy");
  writeFileSync(join(dirname(court.path), "copy.jsonl"), asked(message.tag) + answer());
  await court.seen(id);
});

test("a record that was written before the delivery was settled is proof, even if it was read since", async () => {
  await using court = aCourt();
  const other = await court.delivered("other");
  const { id } = await court.delivered("early", "submitted", async (tag) => {
    writeFileSync(court.path, asked(tag) + asked(other.message.tag) + answer());
    await court.seen(other.id);
  });
  await court.seen(id);
  expect(court.mailbox.delivery(id)).toMatchObject({ proof: "transcript" });
});

test("a transcript that cannot be read is reported once, and read when it can be", async () => {
  await using court = aCourt();
  mkdirSync(court.path);
  const { message, id } = await court.delivered("first");
  const second = await court.delivered("second");
  expect(court.faults).toHaveLength(1);
  rmdirSync(court.path);
  for (const { tag } of [message, second.message]) appendFileSync(court.path, asked(tag));
  appendFileSync(court.path, answer());
  await Promise.all([court.seen(id), court.seen(second.id)]);
  expect(court.faults).toHaveLength(1);
});

test("half a line proves nothing until it is whole, and a rotated transcript is read on", async () => {
  await using court = aCourt();
  writeFileSync(court.path, line({ type: "user", message: { content: "old" } }));
  const first = await court.delivered("first");
  const whole = asked(first.message.tag);
  appendFileSync(court.path, whole.slice(0, -10));
  expect(await court.transcriptWatcher.proofOf(court.agent, first.message)).toBe("none");
  appendFileSync(court.path, whole.slice(-10) + answer());
  await court.seen(first.id);
  renameSync(court.path, `${court.path}.old`);
  const second = await court.delivered("second");
  writeFileSync(court.path, asked(second.message.tag) + answer());
  await court.seen(second.id);
  expect(court.faults).toEqual([]);
});

describe("a transcript proves nothing", () => {
  test("while it is a FIFO, which blocks nothing", async () => {
    await using court = aCourt();
    Bun.spawnSync(["mkfifo", court.path]);
    const { message, id } = await court.delivered("first");
    await until(() => court.faults.length > 0, "the refusal to be reported");
    expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "notRegular" } }]);
    rmSync(court.path);
    writeFileSync(court.path, asked(message.tag) + answer());
    await court.seen(id);
  });

  test("through a link that leads out of where the program keeps its transcripts", async () => {
    await using court = aCourt();
    const elsewhere = mkdtempSync(join(tmpdir(), "tl-elsewhere-"));
    symlinkSync(elsewhere, join(dirname(court.path), "sub"));
    const { message, id } = await court.delivered("first");
    writeFileSync(join(elsewhere, "own.jsonl"), asked(message.tag) + answer());
    court.move(join(dirname(court.path), "sub", "own.jsonl"));
    await until(() => court.faults.length > 0, "the refusal to be reported");
    expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "outside" } }]);
    expect(court.mailbox.delivery(id)).toMatchObject({ state: "delivered", proof: "submitted" });
    rmSync(elsewhere, { recursive: true });
  });

  testUnless(lackUnless(process.getuid?.() === 0, "giving a file to another user needs root"))(
    "when it belongs to another user",
    async () => {
      await using court = aCourt();
      const { message, id } = await court.delivered("first");
      const foreign = `${court.path}.foreign`;
      writeFileSync(foreign, asked(message.tag) + answer());
      chownSync(foreign, 65_534, 65_534);
      court.move(foreign);
      await until(() => court.faults.length > 0, "the refusal to be reported");
      expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "owner" } }]);
      expect(court.mailbox.delivery(id)).toMatchObject({ state: "delivered", proof: "submitted" });
    },
  );
});
