import type { Agent, AgentState, Endpoint } from "../../model/agent.ts";
import type { AgentId } from "../../model/ids.ts";

/** What the screen of an agent says, and by which rule. */
export interface Explanation {
  readonly pane: string;
  readonly state: AgentState;
  readonly draft: boolean;
  /** The rule that fired; `none` when no rule did, null where no screen was read. */
  readonly rule: string | null;
  readonly why: string;
  /** Why nothing would be typed now; null: it would. */
  readonly hold: string | null;
  /** Why its model does not answer, while the program tries again; null: nothing shows that. */
  readonly retrying: string | null;
  readonly known: {
    readonly title: string;
    readonly cursor: readonly [x: number, y: number];
    readonly command: string;
    readonly directory: string;
    readonly size: readonly [columns: number, rows: number];
    readonly copyMode: boolean;
    readonly composer: string | null;
  } | null;
}

/** Of whom what is known may be old. */
export interface Refreshed {
  /** They are there; of a crowd, some screens are still to be read. */
  readonly unread: ReadonlySet<AgentId>;
  /** Their tmux server does not answer. */
  readonly unanswered: ReadonlySet<AgentId>;
}

/** Reads the status of agents. */
export interface StatusReader {
  /**
   * Brings what is known of these agents up to date, reading only what may have changed since the last time. Who is
   * there and who is not is known when it resolves, except where tmux does not answer.
   */
  refreshAll(agents: readonly Agent[]): Promise<Refreshed>;
  /** Resolves when nothing is being read any more. */
  close(): Promise<void>;
  /** Brings what is known of one agent up to date. */
  refresh(agent: Agent): Promise<void>;
  explain(agent: Agent, endpoint: Endpoint): Promise<Explanation>;
  /** Calls back soon after something about the agent changed. */
  watch(agent: Agent, endpoint: Endpoint, changed: () => void): Disposable;
}
