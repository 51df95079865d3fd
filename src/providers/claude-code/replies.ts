/**
 * Sockets of ours beside those of Claude Code's sessions. A session that was written to through its inbox socket can
 * answer there with its own SendMessage tool, and tells what became of a message that it did not take.
 */
import { chmodSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { dirname, join } from "node:path";
import type { Mailbox } from "../../mailbox/port.ts";
import type { Agent } from "../../model/agent.ts";
import { replyAddress } from "../../model/message.ts";
import type { Router } from "../../routing/router.ts";

export interface ClaudeRepliesParts {
  readonly router: Pick<Router, "send">;
  readonly mailbox: Pick<Mailbox, "inbox" | "receipt" | "warn">;
  /** The agent whose session listens there. */
  readonly agentAt: (socketPath: string) => Agent | null;
  readonly report: (context: string, fault: unknown) => void;
}

interface Frame {
  readonly type?: string;
  readonly action?: string;
  readonly from?: string;
  readonly msg_id?: string;
  readonly orig_msg_id?: string;
  readonly status?: string;
  readonly message?: { readonly content?: unknown };
}

/** A session that answers in more than this is not one that we know. */
const maxFrameBytes = 2 * 1024 * 1024;
/** How far back the message is looked for that a session answers. */
const recentMail = 200;
const unwelcome: ReadonlySet<string> = new Set(["held", "denied", "expired", "refused", "dropped"]);

export class ClaudeReplies implements AsyncDisposable {
  private readonly servers = new Map<string, Promise<{ server: Server; path: string }>>();

  constructor(private readonly parts: ClaudeRepliesParts) {}

  /** Our socket in that folder, made when it is first needed. */
  async in(folder: string): Promise<string> {
    let listening = this.servers.get(folder);
    if (listening === undefined)
      this.servers.set(folder, (listening = this.listen(join(folder, `${process.pid}.sock`))));
    try {
      return (await listening).path;
    } catch (thrown) {
      // What kept it from listening may be over when it is asked for again.
      if (this.servers.get(folder) === listening) this.servers.delete(folder);
      throw thrown;
    }
  }

  /** Beside a session's own; null: it cannot answer us. */
  async beside(socket: string): Promise<string | null> {
    try {
      return await this.in(dirname(socket));
    } catch (thrown) {
      this.parts.report("listen for answers of Claude Code", thrown);
      return null;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const listening of await Promise.allSettled(this.servers.values())) {
      if (listening.status === "rejected") continue;
      listening.value.server.close();
      rmSync(listening.value.path, { force: true });
    }
  }

  private async listen(path: string): Promise<{ server: Server; path: string }> {
    rmSync(path, { force: true });
    const server = createServer((socket) => this.read(socket));
    await new Promise<void>((resolve, reject) => server.once("error", reject).listen(path, resolve));
    server.on("error", (fault) => this.parts.report("listen for answers of Claude Code", fault));
    chmodSync(path, 0o600);
    return { server, path };
  }

  private read(socket: Socket): void {
    let text = "";
    socket.setEncoding("utf8");
    socket.on("error", () => socket.destroy());
    socket.on("data", (part: string) => {
      text += part;
      if (text.length > maxFrameBytes) socket.destroy();
      for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n")) {
        const line = text.slice(0, end);
        text = text.slice(end + 1);
        this.take(line).catch((fault: unknown) => this.parts.report("a session's answer", fault));
      }
    });
  }

  private async take(line: string): Promise<void> {
    const frame = JSON.parse(line) as Frame;
    if (frame.type === "user") await this.reply(frame);
    else if (frame.action === "peer_message_status" && unwelcome.has(frame.status ?? "")) await this.warn(frame);
  }

  /** It answers the last sender on its socket; others have given it no such address. */
  private async reply({ from = "", message, msg_id: key }: Frame): Promise<void> {
    const agent = this.parts.agentAt(from.replace(/^uds:/, ""));
    const last =
      agent &&
      this.parts.mailbox
        .inbox(agent.id, { limit: recentMail })
        .findLast(({ delivery }) => delivery.transport === "claude-socket")?.message;
    if (!agent || !last || typeof message?.content !== "string") return;
    const { id, name, team } = agent;
    const draft = {
      to: replyAddress(last),
      inReplyTo: last.id,
      body: unwrapped(message.content),
      ...(key && { idempotencyKey: `peer ${key}` }),
    };
    await this.parts.router.send(draft, { id, name, team, knownBy: "session" });
  }

  private async warn({ from = "", orig_msg_id: id, status }: Frame): Promise<void> {
    const agent = this.parts.agentAt(from.replace(/^uds:/, ""));
    const delivery =
      id === undefined ? undefined : this.parts.mailbox.receipt(id)?.deliveries.find((one) => one.agent === agent?.id);
    if (delivery) await this.parts.mailbox.warn(delivery.id, `the session says that it is ${status}`);
  }
}

/** Claude Code wraps what it sends to another session. */
const unwrapped = (content: string): string =>
  /^<cross-session-message [^>]*>\n([^]*)\n<\/cross-session-message>$/.exec(content)?.[1] ?? content;
