/** What an agent is started from: its profile, and what was wished for it when it was first started. */
import type { Agent, LaunchData } from "../../model/agent.ts";
import type { PermissionMode, Profile, Sandbox } from "../../model/profile.ts";
import { TielineError } from "../../model/errors.ts";
import type { Provider } from "../../providers/port.ts";
import { teaching } from "./teaching.ts";
import { uuidv4, type RandomBytes } from "../../model/ids.ts";

/** Kept as the agent's launch data, so that a later start gets the same agent. */
export interface Wishes {
  readonly provider?: string | undefined;
  readonly model?: string | undefined;
  readonly cwd?: string | undefined;
  readonly task?: string | undefined;
  readonly args?: readonly string[] | undefined;
  /** Follows the profile's own prompt. */
  readonly prompt?: string | undefined;
  readonly skill?: string | undefined;
  readonly sandbox?: Sandbox | undefined;
  readonly permissions?: PermissionMode | undefined;
}

export function launchData(profile: Profile, wishes: Wishes): LaunchData {
  const given = Object.entries(wishes).filter(([, value]) => value !== undefined);
  return { ...Object.fromEntries(given), profile: profile.name };
}

/** The profile with the wishes in it. Another provider does not run the command of the first. */
export function wishedProfile(profile: Profile, launch: LaunchData | null): Profile {
  const wishes = (launch ?? {}) as Wishes;
  const sameProgram = wishes.provider === undefined || wishes.provider === profile.provider;
  const prompt = [profile.prompt, wishes.prompt].filter((text) => text !== null && text !== undefined).join("\n\n");
  return {
    ...profile,
    provider: wishes.provider ?? profile.provider,
    command: sameProgram ? profile.command : null,
    args: [...(sameProgram ? profile.args : []), ...(wishes.args ?? [])],
    model: wishes.model ?? profile.model,
    cwd: wishes.cwd ?? profile.cwd,
    prompt: prompt === "" ? null : prompt,
    skill: wishes.skill ?? profile.skill,
    sandbox: wishes.sandbox ?? profile.sandbox,
    permissions: wishes.permissions ?? profile.permissions,
  };
}

/** The instructions about itself and its mail, in one text. null: a prompt would start a turn for nothing. */
export function promptOf(
  { prompt, skill }: Profile,
  { name, team }: Pick<Agent, "name" | "team">,
  { promptsAtOnce = false }: Pick<Provider, "promptsAtOnce">,
  command = "tieline",
): string | null {
  const begin =
    skill === null ? null : `Begin with the skill \`${skill}\`: load it before you do anything else, and follow it.`;
  const own = [prompt, begin].filter((text) => text !== null);
  if (own.length === 0 && promptsAtOnce) return null;
  const called =
    command === "tieline" ? [] : [`In your shell \`tieline\` may not be found by its name; run it as \`${command}\`.`];
  return [...own, `You are \`${name}\`, an agent in the team \`${team}\`.`, teaching, ...called].join("\n\n");
}

export interface Conversation {
  readonly sessionId: string | null;
  readonly resume: boolean;
}

/** `named` is one that a user asked for: it is gone on with, or the program says that there is none. */
export type WantedConversation = "resume" | "new" | "named";

/** The conversation that a start continues where the program can, or else starts. */
export async function conversationOf(
  { sessionId }: Pick<Agent, "sessionId">,
  provider: Provider,
  wanted: WantedConversation,
  env: Readonly<Record<string, string>>,
  random?: RandomBytes,
): Promise<Conversation> {
  if (wanted === "named" && !provider.resumes) throw goesOnWithNone(provider);
  if (wanted !== "new" && sessionId !== null && provider.resumes) {
    const kept = wanted === "named" || ((await provider.hasConversation?.(sessionId, env)) ?? true);
    // Nothing was ever said in it, so that it can still be begun.
    return { sessionId, resume: kept };
  }
  return { sessionId: provider.takesSessionId ? uuidv4(random) : null, resume: false };
}

const goesOnWithNone = ({ name }: Provider): TielineError =>
  new TielineError("SPAWN_FAILED", `Tieline cannot resume a conversation of ${name}`, {
    remedy: "leave out --resume, or give the program its own arguments with --args",
    operands: { provider: name },
  });
