/**
 * Mail that lies in the inboxes of Claude Code's own teams and is for us to take: what members write to the user,
 * to agents of ours that are registered there, and to a lead that reads only its input stream. The inbox of a lead
 * that reads it itself is only looked at.
 */
import { join } from "node:path";
import { asTielineError, TielineError } from "../../../model/errors.ts";
import { isRequest, type Kind } from "../../../model/message.ts";
import { rowId, type TeamInboxRow, type NativeInbox } from "./teamInbox.ts";
import { kindOf } from "./teamProtocol.ts";
import { dropFolderOf, inboxAt, inboxPathOf, nativeTeams, type InboxLayout, type NativeTeam } from "./teams.ts";
import { userName } from "../../../model/agent.ts";
import { runForever } from "../../../os/runForever.ts";
import { createBell, renewWatcher, type Watcher } from "../../../os/watchFolder.ts";
import { systemClock, type Clock, type RandomBytes } from "../../../model/ids.ts";
import { systemTimers, type Timers } from "../../../os/timers.ts";

export interface NativeMail {
  readonly team: NativeTeam;
  readonly from: string;
  /** In whose inbox it lay: the user's, an agent's of ours, the lead's. */
  readonly to: string;
  readonly kind: Kind;
  readonly body: string;
  readonly summary: string | undefined;
  /** The row's own id, or one that is made of what it says. */
  readonly id: string;
  /** When it was written, as its writer says. */
  readonly at: number;
}

export interface ClaudeTeamsOptions {
  readonly configDir: string;
  /** Names this home, in the records of members that it registered. */
  readonly home: string;
  readonly layout: InboxLayout;
  /** Resolves when the message is durable; the same row again is the same message. */
  readonly accept: (mail: NativeMail) => Promise<void>;
  /** Whether the lead's inbox is ours to empty, because the lead is an agent of ours that does not read it. */
  readonly relays: (team: NativeTeam) => boolean;
  /** Whether a session reads the lead's inbox: then requests in it are that session's to show. */
  readonly leadLives: (team: NativeTeam) => Promise<boolean>;
  /** Called for each team as it is found. */
  readonly met?: (team: NativeTeam) => Promise<void>;
  /** Called when all of them were. */
  readonly metAll?: () => void;
  /** Calls back when another read is worth while, in addition to changed files. */
  readonly onChange?: (changed: () => void) => () => void;
  readonly report: (context: string, fault: unknown) => void;
  readonly signal: AbortSignal;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
  readonly sweepMs?: number;
}

/** Runs until the signal aborts. Never rejects. */
export async function watchClaudeTeams(options: ClaudeTeamsOptions): Promise<void> {
  const { configDir, signal, report, timers = systemTimers, sweepMs = 5_000 } = options;
  const bell = createBell(signal, timers);
  const stopListening = options.onChange?.(bell.ring);
  const watchers = new Map<string, Watcher | undefined>();
  const looked = new Map<string, Set<string>>();
  const faults = new LastingFaults(report);
  const step = async (): Promise<void> => {
    const teams = nativeTeams(configDir);
    for (const folder of [join(configDir, "teams"), ...teams.flatMap((team) => foldersOf(team, options))]) {
      watchers.set(folder, renewWatcher(watchers.get(folder), folder, bell.ring));
    }
    for (const team of teams) {
      await faults.in(`the members of the Claude Code team ${team.name}`, async () => options.met?.(team));
      for (const taking of inboxesOf(team, options)) await take(team, taking, options, faults);
      if (!options.relays(team))
        looked.set(team.folder, await lookAtLead(team, looked.get(team.folder) ?? new Set(), options, faults));
    }
    await faults.in("the members of Claude Code teams", async () => options.metAll?.());
    faults.swept();
    await bell.wait(sweepMs);
  };
  await runForever("watch the Claude Code teams", signal, step, report, { timers });
  for (const watcher of watchers.values()) watcher?.close();
  stopListening?.();
}

interface Taking {
  readonly name: string;
  /** The user's rows stay, because other programs may show them too. */
  readonly how: "mark" | "remove";
}

function inboxesOf(team: NativeTeam, { home, relays }: ClaudeTeamsOptions): Taking[] {
  const ours = team.members
    .filter(({ name, registered }) => registered?.home === home && name !== userName)
    .map(({ name }) => name);
  const removed = relays(team) ? [...ours, team.lead.name] : ours;
  return [{ name: userName, how: "mark" }, ...removed.map((name) => ({ name, how: "remove" }) as const)];
}

function foldersOf(team: NativeTeam, options: ClaudeTeamsOptions): string[] {
  if (options.layout === "inboxes") return [team.folder, join(team.folder, "inboxes")];
  const names = [...inboxesOf(team, options), team.lead].map(({ name }) => name);
  return [team.folder, ...names.map((name) => dropFolderOf(inboxPathOf(team.folder, name)))];
}

/** A row that cannot be accepted now stays where it is; the others are accepted. */
async function take(
  team: NativeTeam,
  { name, how }: Taking,
  options: ClaudeTeamsOptions,
  faults: LastingFaults,
): Promise<void> {
  const { accept, layout, clock = systemClock } = options;
  const inbox = inboxAt(inboxPathOf(team.folder, name), layout, options);
  await faults.in(inboxCalled(name, team), async () => {
    const done = new Set<string>();
    for (const mail of mailIn(inbox, { team, to: name, clock }, faults)) {
      await faults.in(rowCalled(mail), async () => {
        await accept(mail);
        done.add(mail.id);
      });
    }
    if (done.size > 0) await inbox.finish((row) => done.has(rowId(row)), how);
  });
}

/** Idle notices and agreed shutdowns are noted in passing. What no session would show is shown to the user. */
async function lookAtLead(
  team: NativeTeam,
  known: ReadonlySet<string>,
  options: ClaudeTeamsOptions,
  faults: LastingFaults,
): Promise<Set<string>> {
  const { accept, layout, leadLives, clock = systemClock } = options;
  const { lead } = team;
  const now = new Set<string>();
  await faults.in(inboxCalled(lead.name, team), async () => {
    const inbox = inboxAt(inboxPathOf(team.folder, lead.name), layout, options);
    const rows = mailIn(inbox, { team, to: lead.name, clock }, faults);
    const shows = rows.some(({ kind }) => isRequest(kind)) && !(await leadLives(team));
    for (const mail of rows) {
      const concerns =
        mail.kind === "idle_notification" || mail.kind === "shutdown_response" || (shows && isRequest(mail.kind));
      if (!concerns) continue;
      await faults.in(rowCalled(mail), async () => {
        if (!known.has(mail.id)) await accept(mail);
        now.add(mail.id);
      });
    }
  });
  return now;
}

/** Faults that last are reported once, and again only after they were gone for a while. */
class LastingFaults {
  private before = new Set<string>();
  private now = new Set<string>();

  constructor(private readonly report: ClaudeTeamsOptions["report"]) {}

  /** Does the work; what it throws is reported and goes no further. */
  async in(context: string, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (thrown) {
      this.add(context, asTielineError(thrown));
    }
  }

  add(context: string, fault: TielineError): void {
    const key = `${context}: ${fault.message}`;
    if (!this.before.has(key) && !this.now.has(key)) this.report(context, fault);
    this.now.add(key);
  }

  /** Everything was looked at once. */
  swept(): void {
    this.before = this.now;
    this.now = new Set();
  }
}

const inboxCalled = (name: string, team: NativeTeam): string =>
  `the inbox of ${name} in the Claude Code team ${team.name}`;
const rowCalled = ({ id, from, to, team }: NativeMail): string =>
  `the row ${id.slice(0, 80)} from ${JSON.stringify(from.slice(0, 80))} in ${inboxCalled(to, team)}`;

interface InboxOwner {
  readonly team: NativeTeam;
  readonly to: string;
  readonly clock: Clock;
}

/** What is unread there. What is damaged hides nothing. */
function mailIn(inbox: NativeInbox, owner: InboxOwner, faults: LastingFaults): NativeMail[] {
  const { team, to } = owner;
  for (const place of inbox.damaged()) faults.add(inboxCalled(to, team), damaged(place));
  return inbox
    .rows()
    .filter(({ read }) => read !== true)
    .map((row) => mailOf(owner, row));
}

const damaged = (place: string): TielineError =>
  new TielineError("DELIVERY_FAILED", `${place} is no message: it has no sender or no text`, {
    remedy: "repair or remove it; the others are read",
    operands: { place },
  });

function mailOf({ team, to, clock }: InboxOwner, row: TeamInboxRow): NativeMail {
  return {
    team,
    from: row.from,
    to,
    kind: kindOf(row.text),
    body: row.text,
    summary: row.summary,
    id: rowId(row),
    at: Date.parse(row.timestamp) || clock(),
  };
}
