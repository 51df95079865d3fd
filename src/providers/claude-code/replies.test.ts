import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { userId } from "../../model/agent.ts";
import type { InboxRow } from "../../mailbox/port.ts";
import { queued } from "../../mailbox/steps.ts";
import { agentId, deliveryId } from "../../model/ids.ts";
import { seal, type Draft, type Message, type Sender } from "../../model/message.ts";
import { anAgent } from "../../testing/agents.ts";
import { ClaudeReplies } from "./replies.ts";

test(
  "a session's answer goes to the last sender on its socket, without Claude Code's wrapping, and strangers " +
    "are not heard",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tl-cc-socks-"));
    const ana = anAgent({ name: "ana" });
    const question = seal(
      { to: "ana", body: "how far are you?" },
      { id: userId, name: "user", team: "web", knownBy: "user" },
      { inReplyTo: null, hops: 1 },
    );
    const typed = seal(
      { to: "ana", body: "typed since then" },
      { id: agentId("bob"), name: "bob", team: "web", knownBy: "token" },
      { inReplyTo: null, hops: 1 },
    );
    const row = (message: Message, transport: string): InboxRow => ({
      message,
      delivery: { ...queued(message, ana), id: deliveryId(1), transport },
    });
    const sent = Promise.withResolvers<[Draft, Sender]>();
    const faults: unknown[] = [];
    const replies = new ClaudeReplies({
      router: { send: async (draft, from) => (sent.resolve([draft, from]), null as never) },
      mailbox: {
        inbox: () => [row(question, "claude-socket"), row(typed, "tmux")],
        receipt: () => null,
        warn: async () => undefined,
      },
      agentAt: (path) => (path === "/run/cc-socks/7.sock" ? ana : null),
      report: (_context, fault) => faults.push(fault),
    });
    const path = await replies.in(folder);
    expect(await replies.in(folder)).toBe(path);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const content = '<cross-session-message from="x">\nhalf <way>\n</cross-session-message>';
    const frame = (from: string) => `${JSON.stringify({ type: "user", from, msg_id: "m1", message: { content } })}\n`;
    const socket = connect(path);
    socket.write(`${frame("uds:/run/stranger.sock")}not json\n${frame("uds:/run/cc-socks/7.sock").slice(0, 20)}`);
    socket.end(frame("uds:/run/cc-socks/7.sock").slice(20));
    expect(await sent.promise).toEqual([
      { to: "user", inReplyTo: question.id, body: "half <way>", idempotencyKey: "peer m1" },
      { id: ana.id, name: "ana", team: "web", knownBy: "session" },
    ]);
    expect(faults).toHaveLength(1);
    await replies[Symbol.asyncDispose]();
    expect(existsSync(path)).toBe(false);
    rmSync(folder, { recursive: true });
  },
);
