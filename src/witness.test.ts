import { describe, expect, test } from "bun:test";
import { appendFileSync, chownSync, mkdirSync, mkdtempSync, renameSync, rmdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { openMailbox } from "./mailbox/mailbox.ts";
import { memoryStore } from "./mailbox/memory/store.ts";
import { personId } from "./model/agent.ts";
import type { DeliveryId } from "./model/ids.ts";
import { seal } from "./model/message.ts";
import { provesGiven } from "./providers/claude-code/transcript.ts";
import { anAgent } from "./testing/agents.ts";
import { lackUnless, testUnless } from "./testing/needing.ts";
import { until } from "./testing/until.ts";
import { Witness } from "./witness.ts";

/** A mailbox, one agent with a transcript, and somebody who reads it. */
function aCourt() {
  const folder = mkdtempSync(join(tmpdir(), "tl-witness-"));
  const path = join(folder, "session.jsonl");
  let named = path;
  const agent = anAgent({ name: "ana", provider: "claude-code" });
  const mailbox = openMailbox(memoryStore());
  const faults: unknown[] = [];
  const witness = new Witness({
    mailbox,
    agent: () => agent,
    transcript: () => ({ path: named, below: [folder], proves: (line, { tag }) => provesGiven(line, tag) }),
    report: (_context, fault) => faults.push(fault),
  });
  witness.start();
  return {
    path,
    mailbox,
    witness,
    agent,
    faults,
    /** The program says that it writes somewhere else now. */
    move: (other: string) => void (named = other),
    async handed(body: string, meanwhile: (tag: string) => Promise<void> = async () => undefined) {
      const message = seal({ to: "ana", body }, { id: personId, name: "user", team: "web", knownBy: "person" }, { inReplyTo: null, hops: 1 });
      const { deliveries } = await mailbox.accept(message, [agent]);
      const { id } = deliveries[0]!;
      await mailbox.claim(id, { lane: "push", now: Date.now(), transport: "tmux" });
      await meanwhile(message.tag);
      await mailbox.settle(id, { kind: "handed", proof: "submitted", detail: "typed" }, { transport: "tmux", authority: "user" });
      return { message, id };
    },
    seen: (id: DeliveryId) =>
      new Promise<void>((resolve) => {
        const look = (): void => {
          if (mailbox.delivery(id)!.state === "seen") resolve();
        };
        mailbox.onTransitions(look);
        look();
      }),
    async [Symbol.asyncDispose]() {
      await witness[Symbol.asyncDispose]();
      await mailbox[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const line = (fields: object): string => `${JSON.stringify(fields)}\n`;

test("a line of the conversation with the tag is proof; the detail of the delivery stays", async () => {
  await using court = aCourt();
  const { message, id } = await court.handed("first");
  writeFileSync(court.path, line({ type: "user", message: { content: `[${message.tag} from user]` } }));
  await court.seen(id);
  expect(court.mailbox.delivery(id)).toMatchObject({ proof: "transcript", detail: "typed" });
});

test("what the program wrote down before it was settled is proof, too, although the transcript was read since", async () => {
  await using court = aCourt();
  const told = (tag: string): string => line({ type: "user", message: { content: `[${tag} from user]` } });
  const other = await court.handed("other");
  const { id } = await court.handed("early", async (tag) => {
    writeFileSync(court.path, told(tag) + told(other.message.tag));
    await court.seen(other.id);
  });
  await court.seen(id);
  expect(court.mailbox.delivery(id)).toMatchObject({ proof: "transcript" });
});

test("a transcript that can not be read is told of once, and read when it can be", async () => {
  await using court = aCourt();
  mkdirSync(court.path);
  const { message, id } = await court.handed("first");
  const second = await court.handed("second");
  expect(court.faults).toHaveLength(1);
  rmdirSync(court.path);
  for (const { tag } of [message, second.message]) appendFileSync(court.path, line({ type: "user", message: { content: `[${tag} from user]` } }));
  await Promise.all([court.seen(id), court.seen(second.id)]);
  expect(court.faults).toHaveLength(1);
});

test("half a line proves nothing until it is whole, and a rotated transcript is read on", async () => {
  await using court = aCourt();
  writeFileSync(court.path, line({ type: "user", message: { content: "old" } }));
  const first = await court.handed("first");
  const whole = line({ type: "user", message: { content: `[${first.message.tag} from user]` } });
  appendFileSync(court.path, whole.slice(0, -10));
  expect(await court.witness.traceOf(court.agent, first.message)).toBe("none");
  appendFileSync(court.path, whole.slice(-10));
  await court.seen(first.id);
  renameSync(court.path, `${court.path}.old`);
  const second = await court.handed("second");
  writeFileSync(court.path, line({ type: "user", message: { content: `[${second.message.tag} from user]` } }));
  await court.seen(second.id);
  expect(court.faults).toEqual([]);
});

test.each([
  ["a queue", { type: "queue-operation", operation: "enqueue", content: "MSG_X_12345678" }, false],
  ["a note about a hook", { type: "attachment", attachment: { type: "hook_success", stdout: "MSG_X_12345678" } }, false],
  ["a subagent", { type: "user", isSidechain: true, message: { content: "MSG_X_12345678" } }, false],
  ["a summary of hooks", { type: "system", subtype: "stop_hook_summary", hookErrors: ["MSG_X_12345678"] }, false],
  ["a hook's text for the model", { type: "attachment", attachment: { type: "hook_additional_context", content: ["MSG_X_12345678"] } }, true],
  ["a message that joined the turn", { type: "attachment", attachment: { type: "queued_command", prompt: "MSG_X_12345678" } }, true],
  ["a tool's result", { type: "user", message: { content: [{ type: "tool_result", content: "MSG_X_12345678" }] } }, true],
  ["what went to the model", { type: "api-request-blob", message: { content: "MSG_X_12345678" } }, true],
])("in %s", (_where, entry, proof) => {
  expect(provesGiven(JSON.stringify(entry), "MSG_X_12345678")).toBe(proof);
  expect(provesGiven(JSON.stringify(entry), "MSG_X_00000000")).toBe(false);
});

describe("a transcript proves nothing", () => {
  test("while it is a FIFO, which blocks nothing", async () => {
    await using court = aCourt();
    Bun.spawnSync(["mkfifo", court.path]);
    const { message, id } = await court.handed("first");
    await until(() => court.faults.length > 0, "the refusal to be reported");
    expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "notRegular" } }]);
    rmSync(court.path);
    writeFileSync(court.path, line({ type: "user", message: { content: `[${message.tag} from user]` } }));
    await court.seen(id);
  });

  test("through a link that leads out of where the program keeps its transcripts", async () => {
    await using court = aCourt();
    const elsewhere = mkdtempSync(join(tmpdir(), "tl-elsewhere-"));
    symlinkSync(elsewhere, join(dirname(court.path), "sub"));
    const { message, id } = await court.handed("first");
    writeFileSync(join(elsewhere, "own.jsonl"), line({ type: "user", message: { content: `[${message.tag} from user]` } }));
    court.move(join(dirname(court.path), "sub", "own.jsonl"));
    await until(() => court.faults.length > 0, "the refusal to be reported");
    expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "outside" } }]);
    expect(court.mailbox.delivery(id)).toMatchObject({ state: "handed", proof: "submitted" });
    rmSync(elsewhere, { recursive: true });
  });

  testUnless(lackUnless(process.getuid?.() === 0, "giving a file to another user needs root"))("when it belongs to another user", async () => {
    await using court = aCourt();
    const { message, id } = await court.handed("first");
    const foreign = `${court.path}.foreign`;
    writeFileSync(foreign, line({ type: "user", message: { content: `[${message.tag} from user]` } }));
    chownSync(foreign, 65_534, 65_534);
    court.move(foreign);
    await until(() => court.faults.length > 0, "the refusal to be reported");
    expect(court.faults).toMatchObject([{ code: "FILE_REFUSED", operands: { why: "owner" } }]);
    expect(court.mailbox.delivery(id)).toMatchObject({ state: "handed", proof: "submitted" });
  });
});
