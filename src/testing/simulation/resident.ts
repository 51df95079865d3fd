/** An agent in a simulated pane: its processes, its program, its conversation, and the user who looks at it. */
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { hookEndpoint } from "../../delivery/transports/hook/transport.ts";
import { claudeSocketEndpoint } from "../../providers/claude-code/transports/socket/transport.ts";
import type { Endpoint } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";
import type { ProcessFacts } from "../../os/processes.ts";
import { ComposerProgram } from "./composer.ts";
import { Conversation, type ConversationEvents, type TurnTimes } from "./conversation.ts";
import { ForeignProgram, type Writer } from "./program.ts";
import type { SimulatedTmux } from "./tmux/server.ts";
import type { SimulatedClient } from "./tmux/state.ts";

export interface ResidentParts {
  readonly tmux: () => SimulatedTmux;
  readonly nextPid: () => number;
  readonly now: () => number;
  readonly after: (ms: number, run: () => void) => void;
  readonly turnTimes: () => TurnTimes;
  readonly wrong: (what: string) => void;
  readonly pasted: (resident: Resident) => void;
  readonly swallowed: (what: string) => void;
  readonly submitted: (resident: Resident, text: string, by: Writer) => void;
  readonly conversation: (resident: Resident) => Omit<ConversationEvents, "after" | "working">;
  /** A turn of its model is over. */
  readonly turnEnded: (resident: Resident) => void;
}

export class Resident {
  id: AgentId | null = null;
  pane: string | null = null;
  program: ComposerProgram | null = null;
  conversation: Conversation;
  client: SimulatedClient | null = null;
  /** The last text that its model has. */
  lastAsked: string | null = null;
  /** The next turn of its model fails. */
  modelFails = false;
  #panePid = 0;
  #agentPid = 0;
  #since = 0;
  #front: "agent" | "shell" | "editor" = "agent";
  #conversations = 0;

  constructor(
    readonly name: string,
    /** Beside its pane. */
    readonly reach: "pane" | "hook" | "socket",
    private readonly parts: ResidentParts,
  ) {
    this.conversation = this.#begin();
  }

  get isRunning(): boolean {
    return this.program !== null && this.pane !== null && this.parts.tmux().alive;
  }

  /** Starts the program in a pane of its own; it resumes its conversation. */
  start(): void {
    const tmux = this.parts.tmux();
    this.#agentPid = this.parts.nextPid();
    this.program = this.#program();
    this.#front = "agent";
    const [session] = [...tmux.sessions.keys()];
    const pane =
      session === undefined ? tmux.addSession("main", this.program) : tmux.addWindow(session, this.name, this.program);
    this.pane = pane.id;
    this.#panePid = pane.pid;
    this.#since = this.parts.now();
  }

  /** Another program takes the place of the one in the pane. */
  respawn(): void {
    if (!this.isRunning) return;
    this.conversation.kill();
    const pane = this.parts.tmux().paneOf(this.pane!);
    pane.pid = this.parts.nextPid();
    pane.inMode = false;
    pane.program = new ForeignProgram("bash", this.parts.wrong);
    this.program = null;
    this.#print();
  }

  /** The program exits, and the shell that started it has the terminal again. */
  exit(): void {
    if (!this.isRunning) return;
    this.conversation.kill();
    this.program = null;
    this.#front = "shell";
    this.parts.tmux().paneOf(this.pane!).program = new ForeignProgram("bash", this.parts.wrong);
    this.#print();
  }

  /** An editor has the terminal for a while, started from within the program. */
  edit(isOpen: boolean): void {
    if (!this.isRunning) return;
    this.#front = isOpen ? "editor" : "agent";
    this.parts.tmux().paneOf(this.pane!).program = isOpen ? new ForeignProgram("vim", this.parts.wrong) : this.program;
    this.#print();
  }

  kill(): void {
    this.conversation.kill();
    const tmux = this.parts.tmux();
    if (this.pane !== null && tmux.alive && tmux.panes.has(this.pane)) tmux.removePane(this.pane);
    this.#forgetPane();
  }

  /** The tmux server is gone, and all that ran in it. */
  lost(): void {
    this.conversation.kill();
    this.#forgetPane();
  }

  attach(): void {
    if (this.isRunning) this.client ??= this.parts.tmux().attach(this.pane!);
  }

  detach(): void {
    if (this.client !== null && this.parts.tmux().alive) this.parts.tmux().detach(this.client);
    this.client = null;
  }

  press(key: string): void {
    this.attach();
    if (this.client !== null && this.isRunning) this.parts.tmux().pressKey(this.client, key);
  }

  prompt(text: string): void {
    const times = this.parts.turnTimes();
    this.conversation.prompt(text, { ...times, fails: this.modelFails || times.fails });
    this.modelFails = false;
  }

  /** Where the agent can be reached; null: nowhere. */
  endpoints(): readonly Endpoint[] | null {
    if (!this.isRunning) return null;
    const { pid, startedAt } = this.parts.tmux();
    const pane = tmuxEndpoint.make({
      ...{ socket: "/tmux", serverPid: pid, serverStartedAt: startedAt * 1_000, pane: this.pane! },
      ...{ panePid: this.#panePid, agentPid: this.#agentPid, agentStartMark: `start ${this.#agentPid}` },
      ...{ since: this.#since, terminal: {} },
    });
    if (this.reach === "socket") return [pane, claudeSocketEndpoint];
    return this.reach === "hook" ? [pane, hookEndpoint(this.conversation.id)] : [pane];
  }

  processes(): readonly ProcessFacts[] {
    if (this.pane === null || !this.parts.tmux().alive) return [];
    const panePid = this.parts.tmux().panes.get(this.pane)?.pid;
    if (panePid === undefined) return [];
    const agentLives = this.program !== null;
    const front = !agentLives ? panePid : this.#front === "editor" ? -2 : this.#agentPid;
    const editor = this.#agentPid + 1_000_000;
    const foregroundGroup = front === -2 ? editor : front;
    const fact = (pid: number, ppid: number, command: string): ProcessFacts => ({
      ...{ pid, ppid, processGroup: pid, foregroundGroup, startMark: `start ${pid}`, command, computing: false },
    });
    return [
      fact(panePid, 1, "bash"),
      ...(agentLives ? [fact(this.#agentPid, panePid, "claude")] : []),
      ...(agentLives && this.#front === "editor" ? [fact(editor, this.#agentPid, "vim")] : []),
    ];
  }

  #forgetPane(): void {
    this.pane = null;
    this.program = null;
    this.client = null;
  }

  #begin(): Conversation {
    const id = `${this.name}-${++this.#conversations}`;
    return new Conversation(id, {
      ...this.parts.conversation(this),
      after: this.parts.after,
      working: (isWorking) => {
        this.program?.work(isWorking);
        if (isWorking) return;
        this.program?.say("done");
        this.parts.turnEnded(this);
      },
    });
  }

  #program(): ComposerProgram {
    return new ComposerProgram("claude", {
      submitted: (text, by) => this.parts.submitted(this, text, by),
      answered: () => undefined,
      drew: () => this.#print(),
      wrong: this.parts.wrong,
      pasted: () => this.parts.pasted(this),
      swallowed: this.parts.swallowed,
    });
  }

  #print(): void {
    if (this.pane !== null && this.parts.tmux().alive) this.parts.tmux().printed(this.pane);
  }
}
