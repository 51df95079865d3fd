import { TielineError } from "../model/errors.ts";
import { textOf } from "./pipedProcess.ts";

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
  const outputs = [textOf(child.stdout), textOf(child.stderr)] as const;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const giveUp = (): void => {
    child.kill("SIGKILL");
    // Another process may hold them open: a tmux server is given those of its clients.
    for (const output of outputs) output.cancel();
    reject(notInTime(argv, timeoutMs));
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(giveUp, timeoutMs);
  try {
    const [code, stdout, stderr] = await Promise.race([
      Promise.all([child.exited, outputs[0].text, outputs[1].text]),
      late,
    ]);
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
    remedy: "raise terminal.execTimeout, or check the load of the machine",
    operands: { program: argv[0], timeoutMs },
  });
}
