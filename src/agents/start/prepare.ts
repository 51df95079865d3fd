/** From a profile to what can be run: the program's own command, its environment, its walls and its streams. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { digestOf, newToken } from "../directory/token.ts";
import type { Agent, Endpoint } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { systemClock, type Clock, type RandomBytes } from "../../model/ids.ts";
import type { Profile } from "../../model/profile.ts";
import type { HookSetup, LaunchPlan, Provider } from "../../providers/port.ts";
import type { ProgramAnswers } from "../../providers/programAnswers.ts";
import type { Providers } from "../../providers/providers.ts";
import { kindOf, wordsOf, type ProgramKind } from "../../providers/programKinds.ts";
import type { Launch } from "../../tmux/session.ts";
import { onStreams } from "./headless.ts";
import { promptOf, type Conversation } from "./launch.ts";
import { commandWords } from "../status/lastExit.ts";
import { realPath } from "../../os/paths.ts";
import { sandboxedLaunch } from "./sandbox/sandbox.ts";

export interface PrepareParts {
  readonly providers: Providers;
  /** What a started agent needs to find Tieline: the home, and where the `tieline` command is. */
  readonly home: string;
  readonly binDirectory: string;
  readonly socketsDirectory: string;
  /** The programs that its hooks run. */
  readonly hooks: HookSetup;
  /** How an agent runs `tieline`. */
  readonly command: (agent: Agent) => string;
  /** Asks an installed program about itself. */
  readonly ask: ProgramAnswers["of"];
  /** What the tmux server gives to programs: where they look for theirs, and the user's own home. */
  readonly env: Readonly<Record<string, string>>;
  /** The default directory of agents; null: wherever tmux happens to be. */
  readonly directoryOf: (team: string) => string | null;
  /** The names that the agent can write to. */
  readonly reachable: (agent: Agent) => readonly string[];
  readonly surroundings: (agent: Agent) => SandboxSurroundings;
  readonly clock?: Clock;
  readonly random?: RandomBytes;
}

export interface SandboxSurroundings {
  /** Files that say what is started, or are started, outside of any sandbox. */
  readonly decisive: readonly string[];
  /** Directories of such files, whether they are there or not. */
  readonly decisiveDirectories: readonly string[];
  /** Workspaces that other agents will have once they are started. */
  readonly workspaces: readonly string[];
  /** Sockets and keys of the user. */
  readonly secrets: readonly string[];
}

/** Who is to be started, and how. */
export interface Preparation {
  readonly agent: Agent;
  readonly profile: Profile;
  readonly provider: Provider;
  readonly conversation: Conversation;
  readonly otherWorkspaces: readonly string[];
}

export interface Prepared {
  readonly launch: Launch;
  /** The program's own command, for error messages. */
  readonly words: string;
  /** Endpoints that it opens, in addition to its pane. */
  readonly endpoints: readonly Endpoint[];
  /** The files with what it prints for others, if it does. */
  readonly output: string | undefined;
  readonly openToPeers: boolean;
  /** Of the secret that proves who it is; null: a sandbox keeps none. */
  readonly tokenDigest: string | null;
}

/** Writes what the program reads at its start, and throws SPAWN_FAILED when that fails. */
export async function prepare(start: Preparation, parts: PrepareParts): Promise<Prepared> {
  const { agent, profile, provider, conversation } = start;
  const { home, binDirectory, clock = systemClock } = parts;
  const prompt = writePrompt(start, parts);
  const inside =
    profile.sandbox === "bwrap" && prompt !== null ? { ...prompt, file: "/run/tieline/prompt.md" } : prompt;
  const plan = planOf(start, inside, await answerOf(start, parts), parts);
  checkReadsMessages(profile, provider, plan.command);
  for (const [path, text] of Object.entries(plan.files ?? {})) writeFileSync(path, text, { mode: 0o600 });
  const token = newToken(parts.random);
  const env = environmentOf(start, plan, token, parts);
  const cwd = profile.cwd ?? parts.directoryOf(agent.team);
  checkLaunch(
    profile,
    provider,
    profile.sandbox === "command" ? (profile.sandboxCommand ?? []) : [plan.program ?? plan.command[0]!],
    cwd,
    env.PATH,
  );
  const walled = await sandboxedLaunch({
    ...{ profile, command: plan.command, env, cwd, binDirectory, userEnv: parts.env },
    ...{ home: realPath(home), place: join(realPath(home), "sandboxes", agent.id) },
    ...surroundingsOf(start, parts),
    ...(prompt !== null && inside !== prompt && { files: { [inside!.file]: prompt.file } }),
  });
  const streaming =
    plan.prints &&
    onStreams(walled.command, plan.prints, {
      home,
      agent: agent.id,
      conversation: conversation.sessionId,
      startedAt: clock(),
    });
  return {
    launch: {
      command: scrubbed(streaming?.command ?? walled.command, walled.env, parts.providers),
      env: walled.env,
      ...(walled.cwd !== null && { cwd: walled.cwd }),
      keepsDead: true,
    },
    words: commandWords(plan.command),
    endpoints: [...(streaming?.endpoints ?? []), ...(plan.endpoints ?? [])],
    output: streaming?.output,
    openToPeers: plan.openToPeers ?? false,
    tokenDigest: isSandboxed(profile) ? null : digestOf(token),
  };
}

/** What is around a sandbox and must not be seen or written there. */
function surroundingsOf({ agent, profile, otherWorkspaces }: Preparation, { surroundings }: PrepareParts) {
  if (profile.sandbox !== "bwrap") return { decisive: [], decisiveDirectories: [], secrets: [], otherWorkspaces: [] };
  const { decisive, decisiveDirectories, secrets, workspaces } = surroundings(agent);
  const others = [...otherWorkspaces, ...workspaces].map(realPath).filter((path) => path !== profile.workspace);
  return { decisive, decisiveDirectories, secrets: secrets.map(realPath), otherWorkspaces: [...new Set(others)] };
}

const isSandboxed = ({ sandbox }: Profile): boolean => sandbox !== "none";

export function providerFor(profile: Profile, providers: Providers): Provider {
  if (!profile.headless) return providers.of(profile.provider);
  const provider = providers.headless(profile.provider);
  if (provider === null) throw notHeadless(profile);
  return provider;
}

/** The program is asked where it is the provider's own, and never outside of the sandbox that it is meant to run in. */
async function answerOf({ profile, provider }: Preparation, { env, ask }: PrepareParts): Promise<string | null> {
  const [program = provider.program ?? ""] = profile.command ?? [];
  const isOwn = basename(program) === provider.program && (profile.command?.length ?? 1) === 1;
  if (provider.asks === undefined || !isOwn || isSandboxed(profile)) return null;
  const around = { ...env, ...profile.env };
  const path = Bun.which(program, { PATH: around["PATH"] ?? "" });
  return path === null ? null : ask({ path, question: provider.asks, env: around });
}

/** A sandboxed agent reaches Tieline through files only. */
function planOf(
  { agent, profile, provider, conversation }: Preparation,
  prompt: Prompt | null,
  answer: string | null,
  { hooks, socketsDirectory, random }: PrepareParts,
): LaunchPlan {
  const { permissions, model } = profile;
  const waysToUs = isSandboxed(profile)
    ? { hooks: null, ownSocket: null, ownPort: null }
    : { hooks, ownSocket: ownSocketOf(agent, socketsDirectory), ownPort: ownPort(random) };
  return provider.launchCommand(profile, { ...conversation, permissions, model, prompt, answer, ...waysToUs });
}

function environmentOf(
  { agent, profile }: Preparation,
  plan: LaunchPlan,
  token: string,
  { home, binDirectory, reachable, env }: PrepareParts,
) {
  return {
    ...plan.env,
    ...profile.env,
    TIELINE_TOKEN: token,
    TIELINE_HOME: home,
    TIELINE_TEAM: agent.team,
    TIELINE_AGENT: agent.name,
    SWARM_TOPOLOGY: reachable(agent).join(","),
    ...(profile.workspace !== null && { SWARM_WORKSPACE: profile.workspace }),
    PATH: `${binDirectory}:${profile.env["PATH"] ?? env["PATH"] ?? ""}`,
  };
}

/** Variables by which Tieline tells child processes which agent they belong to. */
const ownVariables = ["TIELINE_TOKEN", "TIELINE_HOME", "TIELINE_TEAM", "TIELINE_SANDBOX", "SWARM_WORKSPACE"];

/** A new agent inherits no variable that says whose child process it is. */
function scrubbed(
  command: readonly string[],
  env: Readonly<Record<string, string>>,
  { all }: Pick<Providers, "all">,
): readonly string[] {
  const names = new Set([...all.flatMap(({ childVariables = [] }) => childVariables), ...ownVariables]);
  return ["env", ...[...names].filter((name) => !(name in env)).flatMap((name) => ["-u", name]), ...command];
}

/** Where a program of this agent may listen. */
function ownSocketOf({ id }: Agent, directory: string): string {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return join(directory, `${id}.sock`);
}

/** A port that is free now. The program takes it a moment later, and no other program gets it so soon. */
function ownPort(random?: RandomBytes): { port: number; password: string } {
  const listener = Bun.listen({ hostname: "127.0.0.1", port: 0, socket: { data: () => undefined } });
  const { port } = listener;
  listener.stop(true);
  return { port, password: newToken(random) };
}

interface Prompt {
  readonly text: string;
  readonly file: string;
}

/** In the home, for programs that read their prompt from a file and for users who want to read it. */
function writePrompt({ agent, profile, provider }: Preparation, { home, command }: PrepareParts): Prompt | null {
  const text = promptOf(profile, agent, provider, command({ ...agent, provider: provider.name }));
  if (text === null) return null;
  const file = join(home, "prompts", `${agent.id}.md`);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return { text, file };
}

/** tmux would silently start nothing, or start it in another directory. */
function checkLaunch(
  profile: Profile,
  provider: Provider,
  [program]: readonly string[],
  cwd: string | null,
  path: string,
): void {
  if (program === undefined) throw noCommand(profile);
  if (cwd !== null && !statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw noDirectory(profile, cwd);
  if (Bun.which(program, { PATH: path, ...(cwd !== null && { cwd }) }) === null)
    throw notInstalled(profile, provider, program);
}

/**
 * What runs each line that it is given is started only where its profile says so, and its messages go in as what it
 * does not run.
 */
function checkReadsMessages(profile: Profile, { name: provider }: Provider, command: readonly string[]): void {
  const kind = kindInside(command);
  if (kind === null || kind.kind === "keys" || !["generic", "repl", "shell", "headless"].includes(provider)) return;
  if (provider === "shell" && (kind.kind === "shell" || kind.kind === "remote")) return;
  if (provider === "repl" && kind.kind === "interpreter" && kind.comment !== null) return;
  // Without a terminal its command says what it reads; a program on another machine may be one that does.
  if (provider === "headless" && kind.kind === "remote") return;
  throw runsText(profile, kind, command);
}

/** The program that a command runs, also behind others that only start it. */
function kindInside(command: readonly string[]): ProgramKind | null {
  const words = wordsOf(command);
  const kind = kindOf(words);
  if (kind?.kind !== "wrapper") return kind;
  const inside = words
    .slice(1)
    .map((word, at) => (/^-[a-z]*c$/.test(words[at]!) ? kindOf(word.split(" ")) : kindOf(words.slice(at + 1))));
  return inside.find((one) => one !== null && one.kind !== "wrapper") ?? null;
}

function runsText(profile: Profile, { kind, name }: ProgramKind, command: readonly string[]): TielineError {
  const words = {
    shell: "a bare shell",
    interpreter: "a bare interpreter",
    remote: "a program on another machine or in a container",
    wrapper: "",
    keys: "",
  }[kind];
  const insist = {
    shell: "`provider: shell` if a shell is really meant",
    interpreter: "`provider: repl` to give it messages as comments, where it has those",
    remote: "the `provider:` that runs there",
    wrapper: "",
    keys: "",
  }[kind];
  return new TielineError(
    "SPAWN_FAILED",
    `${profile.name} is ${words} (${wordsOf(command).join(" ")}); text typed there ` +
      `${{ shell: "would run as commands", interpreter: "would run as code" }[kind as string] ?? "may run"}`,
    {
      remedy: `name the program in its \`command:\` in ${profile.source}, or say ${insist}`,
      operands: { profile: profile.name, program: name },
    },
  );
}

const noCommand = (profile: Profile): TielineError =>
  new TielineError("SPAWN_FAILED", `the profile ${profile.name} has no command`, {
    remedy: `give it a \`command:\` in ${profile.source}`,
    operands: { profile: profile.name },
  });

const notHeadless = ({ name, provider, source }: Profile): TielineError =>
  new TielineError("SPAWN_FAILED", `${name} is headless, but ${provider} takes no mail without a terminal`, {
    remedy:
      `leave \`headless\` out in ${source}, or use \`provider: generic\` with a \`command:\` that reads its ` +
      "mail on its standard input",
    operands: { profile: name, provider },
  });

const noDirectory = (profile: Profile, cwd: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${profile.name} works in ${cwd}, which is not a directory`, {
    remedy: "create it, or pass another one with --cwd",
    operands: { profile: profile.name, cwd },
  });

const notInstalled = (profile: Profile, { install }: Provider, program: string): TielineError =>
  new TielineError("SPAWN_FAILED", `${program} is not installed, or not on the PATH of Tieline's daemon`, {
    remedy:
      (install === null ? `install it, or change \`command:\` in ${profile.source}` : `\`${install}\` installs it`) +
      "; after a change of PATH, run `tieline daemon stop`; the next command starts the daemon again",
    operands: { profile: profile.name, program },
  });
