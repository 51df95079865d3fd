import { TielineError } from "../model/errors.ts";

export interface ExecOptions {
  stdin?: string | Uint8Array;
  /** The whole environment of the process; without it, the process inherits ours. */
  env?: Record<string, string>;
  timeoutMs?: number;
}

export interface ExecResult {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a program to its end. A non-zero exit is a result; NOT_INSTALLED and NOT_IN_TIME are thrown. */
export type Exec = (argv: string[], options?: ExecOptions) => Promise<ExecResult>;

export const bunExec: Exec = async (argv, { stdin, env, timeoutMs } = {}) => {
  const child = spawnOrExplain(argv, stdin, env);
  let late = false;
  const timer =
    timeoutMs === undefined
      ? undefined
      : setTimeout(() => {
          late = true;
          child.kill("SIGKILL");
        }, timeoutMs);
  try {
    const [stdout, stderr, code] = await Promise.all([
      new Response(child.stdout).text(),
      new Response(child.stderr).text(),
      child.exited,
    ]);
    if (late) throw notInTime(argv, timeoutMs);
    return { code, stdout, stderr };
  } finally {
    clearTimeout(timer);
  }
};

function spawnOrExplain(argv: string[], stdin: ExecOptions["stdin"], env: ExecOptions["env"]) {
  try {
    return Bun.spawn(argv, {
      stdin: stdin === undefined ? "ignore" : Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
      ...(env && { env }),
    });
  } catch (cause) {
    if ((cause as { code?: string }).code !== "ENOENT") throw cause;
    throw new TielineError("NOT_INSTALLED", `${argv[0]} is not installed or not on the PATH`, {
      remedy: `install ${argv[0]}`,
      operands: { program: argv[0] },
      cause,
    });
  }
}

function notInTime(argv: string[], timeoutMs: number | undefined): TielineError {
  return new TielineError("NOT_IN_TIME", `${argv[0]} did not finish within ${timeoutMs} ms`, {
    remedy: "raise terminal.execTimeout or look at what the machine is busy with",
    operands: { program: argv[0], timeoutMs },
  });
}
