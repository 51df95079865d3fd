/** The teams that Claude Code keeps on this machine, each a folder with its members and their inboxes. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

export interface NativeMember {
  readonly team: string;
  readonly name: string;
  readonly agentType: string | null;
  readonly pane: string | null;
  readonly inbox: string;
}

export function nativeMembers(configDir: string): NativeMember[] {
  const folder = join(configDir, "teams");
  if (!existsSync(folder)) return [];
  return readdirSync(folder).flatMap((team) => membersOf(folder, team));
}

/** Names come from files that other programs write, and become file names: only plain ones count. */
const plainName = /^[A-Za-z0-9_][A-Za-z0-9_.-]*$/;

function membersOf(folder: string, team: string): NativeMember[] {
  const { members } = configIn(join(folder, team, "config.json"));
  if (!Array.isArray(members) || !plainName.test(team)) return [];
  return members.flatMap((member: Record<string, unknown>) => {
    const { name, agentType, tmuxPaneId } = member;
    if (typeof name !== "string" || !plainName.test(name)) return [];
    return { team, name, agentType: textOr(agentType), pane: textOr(tmuxPaneId), inbox: join(folder, team, "inboxes", `${name}.json`) };
  });
}

const textOr = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);

/** A team that is being written, or broken, has no members for us. */
function configIn(file: string): { members?: unknown } {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as { members?: unknown };
  } catch {
    return {};
  }
}
