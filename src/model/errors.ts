/**
 * Every failure that a sender, a script or a person can meet has a code from this table. The table is the single
 * list: exit codes, HTTP statuses and docs/errors.md are checked against it.
 */
export const errorCodes = {
  USAGE: { exit: 2, http: 400, type: "permanent" },
  CONFIG_INVALID: { exit: 2, http: 400, type: "permanent" },
  BODY_EMPTY: { exit: 2, http: 400, type: "permanent" },
  BODY_TOO_LONG: { exit: 2, http: 413, type: "permanent" },
  BODY_NOT_TEXT: { exit: 2, http: 400, type: "permanent" },
  NAME_INVALID: { exit: 2, http: 400, type: "permanent" },
  ADDRESS_UNKNOWN: { exit: 3, http: 404, type: "permanent" },
  ADDRESS_AMBIGUOUS: { exit: 3, http: 409, type: "permanent" },
  TARGET_NOT_FOUND: { exit: 3, http: 404, type: "permanent" },
  ROUTE_DENIED: { exit: 3, http: 403, type: "permanent" },
  IDENTITY_UNKNOWN: { exit: 3, http: 401, type: "permanent" },
  NOT_PERMITTED: { exit: 3, http: 403, type: "permanent" },
  RATE_LIMITED: { exit: 3, http: 429, type: "transient" },
  FILE_REFUSED: { exit: 3, http: 403, type: "permanent" },
  HOP_LIMIT: { exit: 3, http: 429, type: "permanent" },
  CONFLICT: { exit: 3, http: 409, type: "permanent" },
  MESSAGE_UNKNOWN: { exit: 3, http: 404, type: "permanent" },
  PROOF_UNAVAILABLE: { exit: 4, http: 409, type: "permanent" },
  NOT_IN_TIME: { exit: 4, http: 408, type: "transient" },
  EXPIRED: { exit: 4, http: 410, type: "permanent" },
  DELIVERY_FAILED: { exit: 4, http: 502, type: "unknown" },
  SPAWN_FAILED: { exit: 4, http: 502, type: "transient" },
  DAEMON_UNAVAILABLE: { exit: 5, http: 503, type: "transient" },
  STORE_UNAVAILABLE: { exit: 5, http: 503, type: "transient" },
  STORE_CORRUPT: { exit: 5, http: 503, type: "permanent" },
  TMUX_UNAVAILABLE: { exit: 5, http: 503, type: "transient" },
  PANE_UNKNOWN: { exit: 3, http: 404, type: "permanent" },
  NOT_INSTALLED: { exit: 5, http: 503, type: "permanent" },
  INTERNAL: { exit: 1, http: 500, type: "unknown" },
} as const satisfies Record<string, { exit: number; http: number; type: "permanent" | "transient" | "unknown" }>;

export type ErrorCode = keyof typeof errorCodes;
export type Operands = Record<string, unknown>;

export interface ErrorDetails {
  /** What the reader can do about it, as one sentence or command. */
  remedy: string;
  /** The values that the message is about, for programs. */
  operands?: Operands;
  cause?: unknown;
}

export class TielineError extends Error {
  override readonly name = "TielineError";
  readonly remedy: string;
  readonly operands: Operands;

  /** Also what another copy of this module threw: the bundled command line and the sources meet in one process. */
  static override [Symbol.hasInstance](thrown: unknown): boolean {
    return thrown instanceof Error && thrown.name === "TielineError";
  }

  constructor(
    readonly code: ErrorCode,
    message: string,
    { remedy, operands = {}, cause }: ErrorDetails,
  ) {
    super(message, cause === undefined ? undefined : { cause });
    this.remedy = remedy;
    this.operands = operands;
  }

  get exitCode(): number {
    return errorCodes[this.code].exit;
  }

  get httpStatus(): number {
    return errorCodes[this.code].http;
  }

  get type(): "permanent" | "transient" | "unknown" {
    return errorCodes[this.code].type;
  }

  toJSON(): { code: ErrorCode; message: string; remedy: string; operands: Operands } {
    return { code: this.code, message: this.message, remedy: this.remedy, operands: this.operands };
  }
}

/** Anything thrown, as a TielineError: ours stay as they are, the rest are INTERNAL with their cause kept. */
export function asTielineError(thrown: unknown): TielineError {
  if (thrown instanceof TielineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new TielineError("INTERNAL", message, {
    remedy: "this is a fault in Tieline; `tieline daemon logs` shows the details",
    cause: thrown,
  });
}
