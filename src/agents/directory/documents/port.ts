/**
 * Small durable records: agents, teams, run-time edges. They are few and change rarely, so each put is written
 * through before it returns, and everything is read once at the start.
 */
export interface Documents {
  all(kind: string): readonly Document[];
  put(kind: string, key: string, value: unknown): void;
  /** Removing what is not there is fine. */
  remove(kind: string, key: string): void;
}

export interface Document {
  readonly key: string;
  readonly value: unknown;
}
