/**
 * A second OS user for tests of what other users of the machine can do: an ordinary account made for one test, with
 * nothing but what every account has. Needs root.
 */
import { mkdtempSync, chmodSync, chownSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { lackUnless, type Lack } from "./needing.ts";
import { until } from "./until.ts";

export interface OtherUser extends AsyncDisposable {
  readonly name: string;
  readonly uid: number;
  /** A directory of this user that every user may read. */
  readonly dir: string;
  /** Runs a program as this user, with an empty environment. */
  run(argv: readonly string[], options?: { stdin?: string; timeoutMs?: number }): Promise<OtherUserResult>;
  /** Starts a program as this user and leaves ending it to the test. */
  start(argv: readonly string[]): Bun.Subprocess<"ignore", "pipe", "pipe">;
}

export interface OtherUserResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

const canSwitchUser = (): boolean =>
  process.getuid?.() === 0 && Bun.which("useradd") !== null && Bun.which("setpriv") !== null;

export const lackOfOtherUser = (): Lack =>
  lackUnless(canSwitchUser(), "a second OS user needs root, useradd and setpriv");

export function createOtherUser(): OtherUser {
  const name = `tl${process.pid.toString(36)}${Math.random().toString(36).slice(2, 8)}`;
  command(["useradd", "--no-create-home", "--shell", "/bin/sh", name]);
  const uid = Number(command(["id", "-u", name]));
  const gid = Number(command(["id", "-g", name]));
  openPathTo(tmpdir());
  const dir = mkdtempSync(join(tmpdir(), "tl-other-"));
  chownSync(dir, uid, gid);
  chmodSync(dir, 0o755);
  const prefix = ["setpriv", `--reuid=${uid}`, `--regid=${gid}`, "--clear-groups", "--no-new-privs", "--reset-env"];
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LANG: "C.UTF-8" };
  // --reset-env sets a login environment; what a test needs beside it, it passes by `env`.
  const asUser = (argv: readonly string[]): string[] => [...prefix, "env", `PATH=${env.PATH}`, "HOME=" + dir, ...argv];
  return {
    name,
    uid,
    dir,
    async run(argv, { stdin = "", timeoutMs = 20_000 } = {}) {
      const child = Bun.spawn(asUser(argv), {
        cwd: dir,
        env,
        stdin: new Blob([stdin]),
        stdout: "pipe",
        stderr: "pipe",
        timeout: timeoutMs,
      });
      const outputs = [new Response(child.stdout).text(), new Response(child.stderr).text()] as const;
      const [code, stdout, stderr] = await Promise.all([child.exited, ...outputs]);
      return { code, stdout, stderr };
    },
    start: (argv) => Bun.spawn(asUser(argv), { cwd: dir, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" }),
    async [Symbol.asyncDispose]() {
      // Whatever it left running ends with it: the account was made for one test.
      Bun.spawnSync([...prefix, "kill", "-KILL", "-1"]);
      rmSync(dir, { recursive: true, force: true });
      // A killed process takes a moment to be gone, and until then its account is in use.
      await until(
        () =>
          command(["ps", "-A", "-o", "uid="])
            .split(/\s+/)
            .every((one) => one !== String(uid)),
        `the last process of ${name} to end`,
      );
      command(["userdel", name]);
    },
  };
}

/** Tests have a private temporary directory; only what is in it may keep another user out, as in /tmp. */
function openPathTo(directory: string): void {
  const { mode } = statSync(directory);
  if ((mode & 0o001) === 0) chmodSync(directory, (mode & 0o7777) | 0o011);
  if (dirname(directory) !== directory) openPathTo(dirname(directory));
}

function command(argv: string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync(argv, { stdin: "ignore" });
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${stderr.toString().trim() || `exit ${exitCode}`}`);
  return stdout.toString().trim();
}
