/**
 * What members of Claude Code's own teams write to the person lies in `inboxes/user.json` of their team, where nobody
 * looks. It becomes mail to `user`; the rows stay, marked as read, because other programs may show them too.
 */
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Directory } from "../directory/directory.ts";
import { namePattern, personName, type Agent } from "../model/agent.ts";
import { asTielineError } from "../model/errors.ts";
import type { Kind } from "../model/message.ts";
import { markInInbox, readInbox, type InboxRow } from "../providers/claude-code/teamInbox.ts";
import { kindOf } from "../providers/claude-code/teamProtocol.ts";
import type { Router } from "../router.ts";
import { createBell, renewWatcher, type Watcher } from "../workspace/watching.ts";

export interface NativeMail {
  readonly team: string;
  readonly from: string;
  readonly kind: Kind;
  readonly body: string;
  readonly summary: string | undefined;
  /** The same row has the same key, however often it is read. */
  readonly key: string;
}

export interface ClaudeTeamsOptions {
  readonly configDir: string;
  /** Resolves when the message is durable; the same key means the same message. */
  readonly accept: (mail: NativeMail) => Promise<void>;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly sweepMs?: number;
}

export interface PersonMailParts {
  readonly directory: Directory;
  readonly router: Pick<Router, "send">;
  /** The member of that name, as an agent that nobody knows yet. */
  readonly memberOf: (team: string, name: string) => Agent | null;
}

/** A member's row becomes its mail to the person; that it became idle is only noted. */
export function mailToPerson({ directory, router, memberOf }: PersonMailParts): ClaudeTeamsOptions["accept"] {
  return async ({ team: native, from, kind, body, summary, key }) => {
    const team = namePattern.test(native) ? native : "default";
    const member = directory.roster.named(team, from) ?? memberOf(team, from);
    if (member === null) return;
    const { id, name } = directory.add(member);
    if (kind === "idle_notification") directory.observe(id, "idle");
    else await router.send({ to: personName, kind, body, idempotencyKey: key, ...(summary && { summary }) }, { id, name, team, knownBy: "workspace" });
  };
}

/** Runs until the signal aborts. Never rejects. */
export async function watchClaudeTeams({ configDir, accept, report, signal, sweepMs = 5_000 }: ClaudeTeamsOptions): Promise<void> {
  const bell = createBell(signal);
  const watchers = new Map<string, Watcher | undefined>();
  while (!signal.aborted) {
    for (const team of teamsIn(configDir)) {
      const inboxes = join(configDir, "teams", team, "inboxes");
      watchers.set(team, renewWatcher(watchers.get(team), inboxes, bell.ring));
      await takeMail(team, join(inboxes, "user.json"), accept).catch((fault: unknown) => report(`the inbox of the person in ${team}`, asTielineError(fault)));
    }
    await bell.wait(sweepMs);
  }
  for (const watcher of watchers.values()) watcher?.close();
}

async function takeMail(team: string, file: string, accept: ClaudeTeamsOptions["accept"]): Promise<void> {
  const fresh = readInbox(file).filter(({ read }) => read !== true);
  if (fresh.length === 0) return;
  for (const row of fresh) await accept(mailOf(team, row));
  const taken = new Set(fresh.map((row) => keyOf(team, row)));
  await markInInbox(file, (row) => (taken.has(keyOf(team, row)) ? { ...row, read: true } : row));
}

function mailOf(team: string, row: InboxRow): NativeMail {
  return { team, from: row.from, kind: kindOf(row.text), body: row.text, summary: row.summary, key: keyOf(team, row) };
}

/** Rows of other writers may have no id of their own; what they say makes one. */
function keyOf(team: string, { messageId, msg_id, from, timestamp, text }: InboxRow): string {
  if (messageId ?? msg_id) return `native ${String(messageId ?? msg_id)}`;
  return `native ${new Bun.CryptoHasher("sha256").update(JSON.stringify([team, from, timestamp, text])).digest("hex").slice(0, 32)}`;
}

function teamsIn(configDir: string): string[] {
  const folder = join(configDir, "teams");
  return existsSync(folder) ? readdirSync(folder) : [];
}
