/** A `tmux -C` client of a simulated server: commands come in as lines, answers and notifications go out. */
import type { PipedProcess } from "../../../os/pipedProcess.ts";
import type { SimulatedTmux } from "./server.ts";
import { CommandFailure, type SimulatedNotice } from "./state.ts";

export interface ControlClientParts {
  readonly pid: number;
  readonly tmux: SimulatedTmux | null;
  /** `=name` of the session. */
  readonly session: string;
  /** Runs after the time that a line takes from one side to the other. */
  readonly later: (run: () => void) => void;
  readonly ended: () => void;
}

export class SimulatedControlClient implements PipedProcess {
  readonly pid: number;
  readonly stdout: ReadableStream<Uint8Array>;
  readonly stderr = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
  readonly exited: Promise<number>;
  readonly stdin = {
    write: (text: string): number => {
      for (const line of text.split("\n")) if (line !== "") this.parts.later(() => this.#run(line));
      return text.length;
    },
    flush: (): number => 0,
    end: (): void => this.parts.later(() => this.kill("")),
  };
  isAttached = false;
  /** It neither answers nor notifies. */
  isSilent = false;
  #out!: ReadableStreamDefaultController<Uint8Array>;
  readonly #exit = Promise.withResolvers<number>();
  #isOpen = true;
  #number = 0;

  constructor(private readonly parts: ControlClientParts) {
    this.pid = parts.pid;
    this.exited = this.#exit.promise;
    this.stdout = new ReadableStream<Uint8Array>({ start: (controller) => void (this.#out = controller) });
    parts.later(() => this.#attach());
  }

  /** Something happened that tmux tells its clients. */
  tell(notice: SimulatedNotice): void {
    switch (notice.type) {
      case "output":
        return this.#print(`%output ${notice.pane} ${notice.text}`);
      case "mode":
        return this.#print(`%pane-mode-changed ${notice.pane}`);
      case "layout":
        return this.#print(`%layout-change ${notice.window} x x *`);
      case "clients":
        return this.#print("%client-session-changed x $0 main");
    }
  }

  /** tmux tells it why, unless the process itself was killed. */
  kill(reason?: string): void {
    if (!this.#isOpen) return;
    if (reason !== undefined && !this.isSilent) this.#enqueue(`%exit ${reason}`);
    this.#isOpen = false;
    this.#out.close();
    this.#exit.resolve(0);
    this.parts.ended();
  }

  #attach(): void {
    const { tmux, session } = this.parts;
    const found = tmux?.alive ? tmux.sessionCalled(session) : null;
    if (found === null && tmux?.alive) this.#enqueue(`%begin 1 1 0\ncan't find session: ${session}\n%error 1 1 0`);
    if (found === null) return this.kill(tmux?.alive ? "" : "lost server");
    this.isAttached = true;
    this.#block([], true, 0);
    this.#print(`%session-changed ${found.id} ${found.name}`);
  }

  #run(line: string): void {
    if (!this.#isOpen) return;
    try {
      this.#block(this.parts.tmux!.run(line), true, 1);
    } catch (thrown) {
      if (!(thrown instanceof CommandFailure)) throw thrown;
      this.#block([thrown.message], false, 1);
    }
  }

  #block(lines: readonly string[], ok: boolean, ours: number): void {
    const guard = `1 ${++this.#number} ${ours}`;
    this.#print([`%begin ${guard}`, ...lines, `%${ok ? "end" : "error"} ${guard}`].join("\n"));
  }

  #print(text: string): void {
    if (this.isSilent) return;
    this.parts.later(() => {
      if (this.#isOpen && !this.isSilent) this.#enqueue(text);
    });
  }

  #enqueue(text: string): void {
    this.#out.enqueue(Buffer.from(`${text}\n`));
  }
}
