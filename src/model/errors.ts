/**
 * Every failure that a sender, a script or a user can meet has a code from this table. The table is the single
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
  SESSION_EXPIRED: { exit: 3, http: 401, type: "permanent" },
  NOT_PERMITTED: { exit: 3, http: 403, type: "permanent" },
  RATE_LIMITED: { exit: 3, http: 429, type: "transient" },
  UNTRUSTED: { exit: 3, http: 403, type: "permanent" },
  FILE_REFUSED: { exit: 3, http: 403, type: "permanent" },
  HOP_LIMIT: { exit: 3, http: 429, type: "permanent" },
  CONFLICT: { exit: 3, http: 409, type: "permanent" },
  MESSAGE_UNKNOWN: { exit: 3, http: 404, type: "permanent" },
  PROOF_UNAVAILABLE: { exit: 4, http: 409, type: "permanent" },
  NOT_READ: { exit: 4, http: 409, type: "transient" },
  NOT_IN_TIME: { exit: 4, http: 408, type: "transient" },
  QUESTION_WAITING: { exit: 7, http: 409, type: "transient" },
  EXPIRED: { exit: 4, http: 410, type: "permanent" },
  DELIVERY_FAILED: { exit: 4, http: 502, type: "unknown" },
  SPAWN_FAILED: { exit: 4, http: 502, type: "transient" },
  DAEMON_UNAVAILABLE: { exit: 5, http: 503, type: "transient" },
  STORE_UNAVAILABLE: { exit: 5, http: 503, type: "transient" },
  STORE_FULL: { exit: 5, http: 507, type: "transient" },
  HOME_UNSAFE: { exit: 5, http: 503, type: "permanent" },
  STORE_CORRUPT: { exit: 5, http: 503, type: "permanent" },
  TOO_MANY_FILES: { exit: 5, http: 503, type: "transient" },
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

/**
 * Anything thrown, as a TielineError: ours stay as they are, what the machine lacks is named, the rest are INTERNAL.
 */
export function asTielineError(thrown: unknown): TielineError {
  if (thrown instanceof TielineError) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  const fault = systemFaults[codeOf(thrown)];
  if (fault)
    return new TielineError(fault.code, `${fault.problem} (${message})`, {
      remedy: fault.remedy,
      operands: { cause: codeOf(thrown) },
      cause: thrown,
    });
  return new TielineError("INTERNAL", message, {
    remedy: "this is a fault in Tieline; `tieline daemon logs` shows the details",
    cause: thrown,
  });
}

interface SystemFault {
  readonly code: ErrorCode;
  readonly problem: string;
  readonly remedy: string;
}

const diskFull: SystemFault = {
  code: "STORE_UNAVAILABLE",
  problem: "the disk is full",
  remedy: "free some space and try again; nothing that was accepted is lost",
};
const diskFault: SystemFault = {
  code: "STORE_UNAVAILABLE",
  problem: "the disk reported an I/O error",
  remedy: "try again; if it happens again, check the disk (`dmesg` names it) and run `tieline doctor`",
};

/** What the system reports with its own codes; not bugs of Tieline. */
export const systemFaults: Readonly<Record<string, SystemFault>> = {
  ENOSPC: diskFull,
  EDQUOT: { ...diskFull, problem: "your disk quota is used up" },
  EIO: diskFault,
  EROFS: {
    code: "STORE_UNAVAILABLE",
    problem: "the file system is read-only",
    remedy: "mount it writable, or set TIELINE_HOME to another directory",
  },
  EMFILE: {
    code: "TOO_MANY_FILES",
    problem: "this process may not open more files",
    remedy: "try again; if it stays so, raise the limit (`ulimit -n 4096`) and run `tieline daemon stop` in that shell",
  },
  ENFILE: {
    code: "TOO_MANY_FILES",
    problem: "the machine cannot open more files",
    remedy: "close some programs, or raise fs.file-max (`sysctl fs.file-max`)",
  },
};

function codeOf(thrown: unknown): string {
  const code: unknown = thrown instanceof Error ? (thrown as { code?: unknown }).code : undefined;
  return typeof code === "string" ? code : "";
}
