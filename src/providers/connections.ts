import type { ReportedState } from "../agents/status/reportedState.ts";
import type { Agent } from "../model/agent.ts";
import type { ConnectParts, ProgramProcess, ProviderConnection, RegisteredProgram, RunningProgram } from "./port.ts";
import type { Providers } from "./providers.ts";
import { Transcripts } from "./transcripts/transcripts.ts";

/** The connections of all providers to their running programs. */
export class Connections implements AsyncDisposable {
  readonly transcripts = new Transcripts((provider) => this.of(provider).transcripts);
  private readonly byProvider = new Map<string, ProviderConnection>();

  constructor({ all }: Pick<Providers, "all">, parts: ConnectParts) {
    for (const { name, headless, connect } of all) {
      const connection = connect?.(parts);
      if (connection === undefined) continue;
      this.byProvider.set(name, connection);
      if (headless) this.byProvider.set(headless.name, connection);
    }
  }

  get all(): readonly ProviderConnection[] {
    return [...new Set(this.byProvider.values())];
  }

  of(provider: string): ProviderConnection {
    return this.byProvider.get(provider) ?? {};
  }

  /** What the agent's program reports of itself; null: nothing. */
  readonly reportedState = (agent: Agent): ReportedState | null =>
    this.of(agent.provider).reportedState?.(agent) ?? null;

  /** Calls back when the program may report something else. */
  readonly watch = (agent: Agent, changed: () => void): Disposable =>
    this.of(agent.provider).watch?.(agent, changed) ?? { [Symbol.dispose]: () => undefined };

  /** The sessions that programs list themselves. */
  async registered(): Promise<readonly RegisteredProgram[]> {
    return (await Promise.all(this.all.map((one) => one.registered?.() ?? []))).flat();
  }

  /** What can be found out about a program that Tieline did not start; null: nothing. */
  async running(provider: string, program: () => Promise<ProgramProcess>): Promise<RunningProgram | null> {
    const connection = this.of(provider);
    return connection.running === undefined ? null : connection.running(await program());
  }

  /** Whether this session is surely not the agent's: a program that an agent starts inherits the agent's token. */
  isOtherSession(agent: Agent, sessionId: string): boolean {
    return this.of(agent.provider).isOtherSession?.(agent, sessionId) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of this.all) await one[Symbol.asyncDispose]?.();
  }
}
