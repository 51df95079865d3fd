/** The teams that Claude Code keeps on this machine, each a folder with its members and their inboxes. */
import { basename, dirname, join } from "node:path";
import { entriesIn } from "../../../os/entries.ts";
import { blockFor } from "../../../os/blockFor.ts";
import { readUntrusted, refusalError } from "../../../os/untrustedFile.ts";
import { dropFolder } from "./dropFolder.ts";
import type { LockPatience } from "./lockedFile.ts";
import { inboxFile, type NativeInbox } from "./teamInbox.ts";
import { leadName } from "./teamProtocol.ts";

export interface NativeTeam {
  /** The folder's name; Claude Code writes other characters than letters and digits as dashes there. */
  readonly name: string;
  /** What the team calls itself. */
  readonly title: string;
  readonly folder: string;
  readonly lead: { readonly name: string; readonly sessionId: string | null; readonly process: LeadProcess | null };
  readonly members: readonly NativeMember[];
}

/** The process that leads a team, as it wrote itself down. */
export interface LeadProcess {
  readonly pid: number;
  readonly startMark: string;
  /** Ends with the name of the namespace in which the pid means something. */
  readonly pidSpace: string;
}

export interface NativeMember {
  readonly team: string;
  readonly name: string;
  /** `bob@crew`, by which a process of its own is called. */
  readonly agentId: string;
  readonly agentType: string | null;
  readonly pane: string | null;
  /** `in-process`: it runs in the process of its lead; otherwise in one of its own. null: it does not say. */
  readonly backend: string | null;
  readonly cwd: string | null;
  readonly joinedAt: number | null;
  /** The member's inbox file, which also names the member among all teams. */
  readonly inbox: string;
  /** The Tieline home that has put this member here, and its agent there; null: the team's own member. */
  readonly registered: { readonly home: string; readonly agent: string } | null;
}

/** `inboxes`: a file per member, as Claude Code has it now. `drop`: a folder per member, a file per message. */
export type InboxLayout = "inboxes" | "drop";

export function nativeTeams(configDir: string): NativeTeam[] {
  const folder = join(configDir, "teams");
  return entriesIn(folder).flatMap((name) => teamIn(join(folder, name)) ?? []);
}

export function nativeMembers(configDir: string): NativeMember[] {
  return nativeTeams(configDir).flatMap(({ members }) => members);
}

export const folderNameOf = (team: string): string => team.replaceAll(/[^a-zA-Z0-9]/g, "-").toLowerCase();

export const configOf = (folder: string): string => join(folder, "config.json");

export const inboxPathOf = (folder: string, member: string): string => join(folder, "inboxes", `${member}.json`);

/** The mail of the member whose inbox file this is or would be. */
export function inboxAt(path: string, layout: InboxLayout, patience: LockPatience = {}): NativeInbox {
  return layout === "inboxes" ? inboxFile(path, patience) : dropFolder(dropFolderOf(path), patience);
}

export const dropFolderOf = (inbox: string): string => join(dirname(dirname(inbox)), "inbox", basename(inbox, ".json"));

/** Names come from files that other programs write, and become file names: only plain ones count. */
const plainName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

/** null: no team, or one that is being written, or broken. */
export function teamIn(folder: string): NativeTeam | null {
  const config = configIn(configOf(folder));
  const name = basename(folder);
  if (!Array.isArray(config?.["members"]) || !plainName.test(name)) return null;
  const leadId = textOr(config["leadAgentId"])?.split("@")[0];
  const lead = {
    name: leadId !== undefined && plainName.test(leadId) ? leadId : leadName,
    sessionId: textOr(config["leadSessionId"]),
    process: processIn(config["leadProcess"]),
  };
  const title = textOr(config["name"]) ?? name;
  const members = config["members"].flatMap(
    (member: unknown) => memberIn(folder, title, (member ?? {}) as Readonly<Record<string, unknown>>) ?? [],
  );
  return { name, title, folder, lead, members };
}

function memberIn(folder: string, title: string, fields: Readonly<Record<string, unknown>>): NativeMember | null {
  const { name, joinedAt, tieline } = fields;
  if (typeof name !== "string" || !plainName.test(name)) return null;
  const { home, agent } = (tieline ?? {}) as { home?: unknown; agent?: unknown };
  return {
    ...{
      team: basename(folder),
      name,
      agentId: textOr(fields["agentId"]) ?? `${name}@${title}`,
      agentType: textOr(fields["agentType"]),
    },
    ...{ pane: textOr(fields["tmuxPaneId"]), backend: textOr(fields["backendType"]), cwd: textOr(fields["cwd"]) },
    joinedAt: typeof joinedAt === "number" ? joinedAt : null,
    inbox: inboxPathOf(folder, name),
    registered: typeof home === "string" && typeof agent === "string" ? { home, agent } : null,
  };
}

function processIn(value: unknown): LeadProcess | null {
  const { pid, procStart, pidSpace } = (value ?? {}) as { pid?: unknown; procStart?: unknown; pidSpace?: unknown };
  return typeof pid === "number" && typeof procStart === "string"
    ? { pid, startMark: procStart, pidSpace: textOr(pidSpace) ?? "" }
    : null;
}

const textOr = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** Claude Code writes this file in place, so that a reader may see half a file. */
const readTries = 3;
const maxConfigBytes = 4 << 20;

function configIn(file: string, tries = readTries): Readonly<Record<string, unknown>> | null {
  const found = readUntrusted(file, { maxBytes: maxConfigBytes });
  if (!found.ok && found.why === "unreadable") throw refusalError(file, found);
  if (!found.ok) return null;
  try {
    return JSON.parse(found.bytes.toString("utf8")) as Readonly<Record<string, unknown>>;
  } catch {
    if (tries === 0) return null;
    blockFor(1);
    return configIn(file, tries - 1);
  }
}
