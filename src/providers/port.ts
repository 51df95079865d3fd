import type { Directory } from "../agents/directory/directory.ts";
import type { AgentWatchesParts } from "../agents/status/agentWatches.ts";
import type { ReportedState } from "../agents/status/reportedState.ts";
import type { EndpointSchema } from "../delivery/transports/endpointKind.ts";
import type { ProbingTransport, Transport } from "../delivery/transports/port.ts";
import type { SessionRecord } from "../delivery/transports/sessionRecord.ts";
import type { HookHandler } from "./hooks/hookHandler.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, AgentState, Endpoint } from "../model/agent.ts";
import type { AgentId, Clock, DeliveryId } from "../model/ids.ts";
import type { PermissionMode, Profile } from "../model/profile.ts";
import type { Timers } from "../os/timers.ts";
import type { HookDialect } from "./hooks/hookDialect.ts";
import type { HookSettings } from "./hooks/hookInstaller.ts";
import type { McpSettings } from "./mcpSettings.ts";
import type { Router } from "../routing/router.ts";
import type { TerminalTraits } from "./traits.ts";
import type { TranscriptSource } from "./transcripts/port.ts";

/**
 * Everything Tieline knows about one agent program. Each folder beside this file exports one; `compose/providers.ts`
 * lists them. A part that a program lacks is left out.
 */
export interface Provider extends Launching {
  readonly name: string;
  /** The program's name in sentences: `Claude Code`. */
  readonly title: string;
  /** The program's command on the PATH; null: the profile must give a command. */
  readonly program: string | null;
  /** Packages that install the program; they identify it when a JavaScript runtime runs it. */
  readonly packages?: readonly string[];
  /** The rules for reading its screen, as in `screen.json`. */
  readonly screen: unknown;
  /** How it takes text at its terminal, where it differs from other programs. */
  readonly terminal?: Partial<TerminalTraits>;
  /** How its hooks speak, and how they get into its settings. */
  readonly hooks?: { readonly dialect?: HookDialect; readonly settings: HookSettings };
  /** Its list of MCP servers. */
  readonly mcp?: McpSettings;
  /** The same program without a terminal; left out: it cannot run without one. */
  readonly headless?: Provider;
  /** The endpoints of its own transports, as they are stored. */
  readonly endpoints?: readonly EndpointSchema[];
  /** Transports that come with the program; each finds out for itself whether it can be used. */
  readonly transportsInPane?: readonly string[];
  /** Variables it sets for its child processes, which a new agent must not inherit. */
  readonly childVariables?: readonly string[];
  /** Its commands run in login shells, which reset PATH. */
  readonly usesLoginShells?: boolean;
  /** One process may run the commands of several sessions, so the pane they name proves nothing. */
  readonly sharesProcess?: boolean;
  /** Connects to its running programs. A daemon does this once. */
  connect?(parts: ConnectParts): ProviderConnection;
}

export interface ConnectParts {
  readonly env: Readonly<Record<string, string>>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly report: (context: string, fault: unknown) => void;
}

/** What a provider knows about its running programs. A part that it cannot tell is left out. */
export interface ProviderConnection extends Partial<AsyncDisposable> {
  /** What the agent's program reports of itself; null: nothing. */
  reportedState?(agent: Agent): ReportedState | null;
  /** Calls back when the program may report something else. */
  watch?(agent: Agent, changed: () => void): Disposable;
  /** A hook of the agent's program fired, which shows this state. */
  hookFired?(agent: Agent, state: AgentState): void;
  /** Why the program retries its model; null: it does not, undefined: it does not say. */
  retryReason?(agent: Agent): string | null | undefined;
  readonly transcripts?: TranscriptSource;
  /** The sessions that the program lists itself. */
  registered?(): Promise<readonly RegisteredProgram[]>;
  /** What can be found out about a program that Tieline did not start. */
  running?(program: ProgramProcess): Promise<RunningProgram>;
  /** Whether this session is surely not the agent's. */
  isOtherSession?(agent: Agent, sessionId: string): boolean;
  /** Hook handlers for tools of the program's own. */
  hookHandlers?(parts: Pick<TransportSurroundings, "router">): ProviderHookHandlers;
  transports?(parts: TransportSurroundings): readonly Transport[];
  /** What keeps the directory true to what the programs report. */
  links?(parts: LinkSurroundings): readonly (Disposable & { start(): void })[];
}

/** Observers run with the other observers, guards after the guard for urgent mail. */
export interface ProviderHookHandlers {
  readonly observers: readonly HookHandler[];
  readonly guards: readonly HookHandler[];
}

/** A session in a program's own list. */
export interface RegisteredProgram {
  readonly provider: string;
  readonly pid: number;
  readonly sessionId: string;
  readonly name?: string | undefined;
  readonly alive: boolean;
}

export interface TransportSurroundings extends SessionRecord {
  readonly home: string;
  readonly router: Pick<Router, "send">;
  readonly mailbox: Pick<Mailbox, "inbox" | "receipt" | "warn">;
  readonly directory: Pick<Directory, "agents">;
  /** The transport for the pane that the program runs in. */
  readonly pane: ProbingTransport;
  /** How an agent runs `tieline`. */
  readonly command: (agent: Agent) => string;
  /** Whether the agent's hooks call Tieline and wait for mail. */
  readonly hooksReach: (agent: Agent) => boolean;
}

export interface LinkSurroundings {
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn">;
  readonly onEvent: AgentWatchesParts["onEvent"];
  /** The program reported something new. */
  readonly changed: (agent: AgentId) => void;
  /** What was delivered without proof may be proved now, and so may these. */
  readonly reconsider: (agent: AgentId, delivered?: readonly DeliveryId[]) => Promise<void>;
}

/** How a program is started, resumed, answered, interrupted and stopped. */
export interface Launching {
  /** The argument on which the program prints its version or help, where that decides how it is started. */
  readonly asks?: string;
  /** The command that installs the program, for the error that says it is missing. */
  readonly install: string | null;
  /** Whether a new conversation may be given an id of our choice. */
  readonly takesSessionId: boolean;
  /** Whether the program can resume a conversation by its id. */
  readonly resumes: boolean;
  /** It acts without asking, whatever the permission mode is. */
  readonly neverAsks?: boolean;
  /** The prompt is the first thing said to it, and it answers at once. */
  readonly promptsAtOnce?: boolean;
  /** Pure: nothing is started or written here. */
  launchCommand(profile: Profile, options: LaunchOptions): LaunchPlan;
  /** Whether the program has kept this conversation. Without it, one that it was given is taken to be there. */
  hasConversation?(sessionId: string, env: Readonly<Record<string, string>>): Promise<boolean>;
  /** The process that Tieline runs beside the program in its pane; null: none is known. */
  companionOf?(agent: Pick<Agent, "endpoints">): number | null;
  /** Typed at an idle prompt, it ends the program; null: the program has no such words. */
  readonly exitWords: string | null;
  /** What stops the running turn, as tmux names keys. */
  readonly interruptKeys: readonly string[];
  /** How its dialogs are answered; null: none are known. */
  readonly dialogs: DialogKeys | null;
}

export interface LaunchOptions {
  /** The conversation to start or, with `resume`, to continue. null: the program chooses. */
  readonly sessionId: string | null;
  readonly resume: boolean;
  /** What is appended to the program's own system prompt, and the file that holds the same text. */
  readonly prompt: { readonly text: string; readonly file: string } | null;
  readonly permissions: PermissionMode;
  readonly model: string | null;
  /** What the installed program says about itself when it is asked; null: it was not asked, or did not answer. */
  readonly answer?: string | null;
  /** How its hooks reach Tieline, for programs that take hooks at their start. */
  readonly hooks?: HookSetup | null;
  /** Where a program that serves others may listen, for this agent alone. */
  readonly ownSocket?: string | null;
  /** The same for a program that serves a port of the loopback, with the word that it shall ask for. */
  readonly ownPort?: { readonly port: number; readonly password: string } | null;
}

export interface HookSetup {
  /** The programs that hooks run: one takes a call, the other waits until mail comes. */
  readonly hook: string;
  readonly wait: string;
  /** What the installed program says about itself when it is asked; null: it was not asked, or did not answer. */
  readonly answer?: string | null;
}

export interface LaunchPlan {
  readonly command: readonly string[];
  /** What has to be installed, where the command begins with something else. */
  readonly program?: string;
  readonly env: Readonly<Record<string, string>>;
  /** Whether the program is started so that it takes messages from other sessions. */
  readonly openToPeers?: boolean;
  /** The program has no terminal and prints this: text, or records for its transport. */
  readonly prints?: "text" | "records";
  /** Endpoints that this start opens, in addition to its pane. */
  readonly endpoints?: readonly Endpoint[];
  /** What the program reads at its start, by path; written before it. */
  readonly files?: Readonly<Record<string, string>>;
}

/** A program of this kind that Tieline did not start. */
export interface ProgramProcess {
  /** The program that has the terminal, and what it runs in its group: the real one may be a child of a launcher. */
  readonly pids: readonly number[];
  readonly argv: readonly string[];
  /** Conversations that are known as other agents. */
  readonly taken: ReadonlySet<string>;
}

/** What can be found out about it from outside. */
export interface RunningProgram {
  readonly sessionId: string | null;
  /** Its endpoints, in addition to its pane. */
  readonly endpoints: readonly Endpoint[];
}

/** How a choice is found on the screen, and which keys take it. */
export interface DialogKeys {
  /** One choice, with its number in the group `number` and its words in `label`; may match several times in a line. */
  readonly choice: RegExp;
  /** The keys for the choice at this place, counted from one, as tmux names them. */
  keys(place: number): readonly string[];
}

/** Menus of numbered lines, where a digit takes the choice at once. */
export const numberedChoices: DialogKeys = {
  choice: /^[\s│┃|]*(?:[❯›●○>*]\s*)?(?<number>\d)\.\s+(?<label>\S.*?)\s*(?:[│┃|]\s*)?$/u,
  keys: (place) => [String(place)],
};

/** A command with more arguments. A shell line takes them as its own, behind all that it says. */
export function withArguments(command: readonly string[], args: readonly string[]): readonly string[] {
  const [shell, option, line, ...rest] = command;
  if (
    shell?.split("/").at(-1) !== "sh" ||
    option !== "-c" ||
    line === undefined ||
    rest.length > 0 ||
    args.length === 0
  )
    return [...command, ...args];
  return [shell, "-c", `${line} "$@"`, "sh", ...args];
}

/** Flags of which some are left out. */
export function flags(...given: readonly (readonly string[] | false | null)[]): string[] {
  return given.flatMap((words) => words || []);
}
