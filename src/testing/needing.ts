import { describe, test } from "bun:test";

/** What a machine lacks for some tests, in words; null where it has all that they need. */
export type Lack = string | null;

export const lackUnless = (has: boolean, words: string): Lack => (has ? null : words);

/** Tests that need more than every machine has: without it they are skipped, under a name that says why. */
export const describeUnless = (lack: Lack) => (name: string, body: () => void) =>
  lack === null ? describe(name, body) : describe.skip(`${name} (${lack})`, body);

export const testUnless = (lack: Lack) => (name: string, body: () => void | Promise<void>, timeoutMs?: number) =>
  lack === null ? test(name, body, timeoutMs) : test.skip(`${name} (${lack})`, body);

export const lackOfLinux = lackUnless(process.platform === "linux", "only Linux tells this of a process");

const runsBubblewrap = (): boolean =>
  Bun.which("bwrap") !== null &&
  Bun.spawnSync(["bwrap", "--ro-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "true"]).exitCode === 0;
export const lackOfPasta = (): Lack => lackUnless(Bun.which("pasta") !== null, "pasta is missing here");
export const lackOfBubblewrap = (): Lack =>
  lackUnless(runsBubblewrap(), "bubblewrap is missing here, or not allowed to run");
