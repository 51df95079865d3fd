/**
 * Our agents as members of a Claude Code team, so that its own members can write to them by name. Only records that
 * carry our mark are ever changed or removed; everything else in the file stays as it is.
 */
import { changeFile, textIn, type LockPatience } from "./lockedFile.ts";
import { configOf } from "./teams.ts";

export interface Registration {
  readonly agent: string;
  readonly name: string;
  readonly agentType: string;
  readonly joinedAt: number;
  readonly pane: string | null;
  readonly cwd: string;
  readonly isActive: boolean;
}

type Fields = Readonly<Record<string, unknown>>;

/** Not a backend that Claude Code knows: when a lead cleans up, it must not take the panes of our agents away. */
const backendType = "tieline";
const colors = ["red", "blue", "green", "yellow", "purple", "orange", "pink", "cyan"];

/**
 * Makes the records of one home what is wanted. Writes only when something differs; a file that is broken is left
 * alone.
 */
export async function registerMembers(
  folder: string,
  home: string,
  wanted: readonly Registration[],
  patience: LockPatience = {},
): Promise<boolean> {
  const file = configOf(folder);
  const change = (text: string): string | null => {
    const config = parse(text);
    if (config === null) return null;
    const members = membersWith(config["members"] as readonly Fields[], home, wanted, String(config["name"] ?? ""));
    const changed = JSON.stringify({ ...config, members }, null, 2);
    return changed === JSON.stringify(config, null, 2) ? null : changed;
  };
  if (change(textIn(file)) === null) return false;
  await changeFile(file, change, patience);
  return true;
}

function membersWith(
  members: readonly Fields[],
  home: string,
  wanted: readonly Registration[],
  team: string,
): Fields[] {
  const foreign = new Set(members.filter((member) => homeOf(member) !== home).map(({ name }) => name));
  const own = new Map(wanted.filter(({ name }) => !foreign.has(name)).map((one) => [one.name, one]));
  const kept = members.flatMap((member) => {
    if (homeOf(member) !== home) return [member];
    const registration = own.get(String(member["name"]));
    own.delete(String(member["name"]));
    return registration ? [recordOf(registration, home, team, member)] : [];
  });
  return [...kept, ...[...own.values()].map((registration) => recordOf(registration, home, team, {}))];
}

/** What others have added to our record, and since when it is there, stays. */
function recordOf(
  { agent, name, agentType, joinedAt, pane, cwd, isActive }: Registration,
  home: string,
  team: string,
  before: Fields,
): Fields {
  return {
    ...{ agentId: `${name}@${team}`, name, joinedAt, color: colorOf(name), planModeRequired: false, subscriptions: [] },
    ...before,
    ...{ agentType, tmuxPaneId: pane ?? "", cwd, backendType, isActive, tieline: { home, agent } },
  };
}

const homeOf = (member: Fields): unknown => (member["tieline"] as { home?: unknown } | undefined)?.home;

const colorOf = (name: string): string =>
  colors[[...name].reduce((sum, letter) => sum + letter.codePointAt(0)!, 0) % colors.length]!;

function parse(text: string): Fields | null {
  try {
    const config = JSON.parse(text) as Fields;
    return Array.isArray(config["members"]) ? config : null;
  } catch {
    return null;
  }
}
