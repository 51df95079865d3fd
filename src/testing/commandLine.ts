import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf, type Home } from "../client/home.ts";
import { runOnTerminal } from "./onTerminal.ts";
import { resultOf, type ChildResult } from "./childResult.ts";

const launcher = new URL("../../bin/tieline", import.meta.url).pathname;

export interface Running {
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
}

/** `bin/tieline` in a home of its own, with nothing inherited. */
export interface CommandLine extends Disposable {
  readonly home: Home;
  readonly dir: string;
  readonly env: Readonly<Record<string, string>>;
  run(args: readonly string[], options?: Running): Promise<ChildResult>;
  /** The same on a terminal; stdout is everything that the terminal received. */
  runOnTerminal(args: readonly string[], options?: Running): Promise<Pick<ChildResult, "code" | "stdout">>;
  /** Starts it and leaves ending it to the test. */
  start(args: readonly string[], options?: Running): Bun.Subprocess<"ignore", "pipe", "pipe">;
}

export function commandLine(): CommandLine {
  const dir = mkdtempSync(join(tmpdir(), "tl-cli-"));
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: dir,
    LANG: "C.UTF-8",
    TERM: "xterm-256color",
    TIELINE_HOME: dir,
  };

  return {
    home: homeOf(env),
    dir,
    env,
    async run(args, { env: more = {}, stdin = "" } = {}) {
      const child = Bun.spawn([launcher, ...args], {
        cwd: dir,
        env: { ...env, ...more },
        stdin: new Blob([stdin]),
        stdout: "pipe",
        stderr: "pipe",
      });
      return resultOf(child);
    },
    async runOnTerminal(args, { env: more = {} } = {}) {
      const { code, told } = await runOnTerminal([launcher, ...args], { cwd: dir, env: { ...env, ...more } });
      return { code, stdout: told };
    },
    start(args, { env: more = {} } = {}) {
      return Bun.spawn([launcher, ...args], {
        cwd: dir,
        env: { ...env, ...more },
        stdin: "ignore",
        stdout: "pipe",
        stderr: "pipe",
      });
    },
    [Symbol.dispose]() {
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
