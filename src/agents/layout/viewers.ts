import { endpointBy, type Agent } from "../../model/agent.ts";
import { asTielineError } from "../../model/errors.ts";
import type { TmuxServer } from "../../tmux/server.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

export interface ViewerParts {
  readonly server: (socket: string) => TmuxServer;
  readonly agents: () => readonly Agent[];
  /** The session that an agent of ours lives in. */
  readonly sessionOf: (agent: Agent) => string;
  readonly attend: (wanted: () => readonly Agent[]) => Disposable;
  readonly report: (context: string, fault: unknown) => void;
}

/** A client in a session shows its borders, so its agents are attended until it leaves. */
export class Viewers implements AsyncDisposable {
  private readonly viewed = new Map<string, ReadonlySet<string>>();
  private attention: Disposable | null = null;
  private asking: Promise<void> = Promise.resolve();
  private stopped = false;

  constructor(private readonly parts: ViewerParts) {}

  /** Clients of that server came, went or moved. */
  moved(socket: string): void {
    if (!this.stopped) this.asking = this.asking.then(() => this.count(socket));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopped = true;
    await this.asking;
    this.viewed.clear();
    this.arrange();
  }

  private async count(socket: string): Promise<void> {
    const before = this.viewed.get(socket) ?? new Set();
    try {
      const lines = await this.parts
        .server(socket)
        .read([["list-clients", "-F", "#{?client_control_mode,,#{session_name}}"]]);
      this.viewed.set(socket, new Set(lines.filter(Boolean)));
    } catch (thrown) {
      this.viewed.delete(socket);
      if (asTielineError(thrown).code !== "TMUX_UNAVAILABLE") this.parts.report("list the clients of tmux", thrown);
    }
    // Our own watchers come and go as well; they change nothing.
    if (before.symmetricDifference(this.viewed.get(socket) ?? new Set()).size > 0) this.arrange();
  }

  private arrange(): void {
    const before = this.attention;
    const isViewed = [...this.viewed.values()].some((sessions) => sessions.size > 0);
    this.attention = isViewed
      ? this.parts.attend(() => this.parts.agents().filter((agent) => this.isViewed(agent)))
      : null;
    before?.[Symbol.dispose]();
  }

  private isViewed(agent: Agent): boolean {
    const endpoint = endpointBy("tmux", agent);
    if (endpoint === undefined || agent.launch === null) return false;
    const sessions = this.viewed.get(tmuxEndpoint.locatorOf(endpoint).socket);
    return sessions !== undefined && sessions.size > 0 && sessions.has(this.parts.sessionOf(agent));
  }
}
