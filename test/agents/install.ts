import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";

export type AgentProgram = "claude-code" | "codex" | "gemini" | "opencode" | "pi";

interface Pin {
  package: string;
  version: string;
  /** The command that starts the program, given its node_modules. Native programs are named directly, because their
   *  launchers need an install script that npm may refuse to run. */
  command(modules: string): string[];
}

const platform = `${process.platform}-${process.arch}`;

const codexTargets: Record<string, string> = {
  "linux-x64": "x86_64-unknown-linux-musl",
  "linux-arm64": "aarch64-unknown-linux-musl",
  "darwin-x64": "x86_64-apple-darwin",
  "darwin-arm64": "aarch64-apple-darwin",
};

export const pins: Record<AgentProgram, Pin> = {
  "claude-code": {
    package: "@anthropic-ai/claude-code",
    version: "2.1.325",
    command: (modules) => [join(modules, `@anthropic-ai/claude-code-${platform}/claude`)],
  },
  codex: {
    package: "@openai/codex",
    version: "0.166.0",
    command: (modules) => [
      join(modules, `@openai/codex-${platform}/vendor/${codexTargets[platform] ?? platform}/bin/codex`),
    ],
  },
  gemini: {
    package: "@google/gemini-cli",
    version: "0.61.0",
    command: (modules) => ["node", join(modules, "@google/gemini-cli/bundle/gemini.js")],
  },
  opencode: {
    package: "opencode-ai",
    version: "1.18.33",
    command: (modules) => [join(modules, `opencode-${platform}/bin/opencode`)],
  },
  pi: {
    package: "@earendil-works/pi-coding-agent",
    version: "0.74.2",
    command: (modules) => ["node", join(modules, "@earendil-works/pi-coding-agent/dist/cli.js")],
  },
};

export type Installation =
  | { program: AgentProgram; version: string; command: string[] }
  | { program: AgentProgram; version: string; missing: string };

function agentsCache(env: Record<string, string | undefined> = process.env): string {
  return join(env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tieline", "agents");
}

/**
 * The pinned program, installed once per machine. Never throws for a program that cannot be had here: the answer then
 * says why, so that a test can be skipped by name.
 */
export async function installAgent(
  program: AgentProgram,
  cache = agentsCache(),
  version = pins[program].version,
): Promise<Installation> {
  const pin = { ...pins[program], version };
  const home = join(cache, `${program}@${pin.version}`);
  const found = { program, version: pin.version, command: pin.command(join(home, "node_modules")) };
  if (existsSync(home)) return found;
  try {
    await mkdir(cache, { recursive: true });
    await withLock(
      `${home}.lock`,
      () => existsSync(home),
      () => installInto(home, pin),
    );
    return found;
  } catch (thrown) {
    return { program, version: pin.version, missing: thrown instanceof Error ? thrown.message : String(thrown) };
  }
}

/** Installs beside the final folder and renames when it is complete, so the folder is either absent or whole. */
async function installInto(home: string, pin: Pin): Promise<void> {
  const staging = `${home}.partial-${process.pid}`;
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { recursive: true });
  try {
    const wanted = `${pin.package}@${pin.version}`;
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    await run(["npm", "install", ...flags, "--prefix", staging, wanted], 600_000);
    await probe(pin.command(join(staging, "node_modules")), staging);
    await rename(staging, home);
  } finally {
    await rm(staging, { recursive: true, force: true });
  }
}

/** Even `--version` makes these programs write into their home, so it runs with one of its own, thrown away after. */
async function probe(command: string[], staging: string): Promise<void> {
  const home = join(staging, "probe-home");
  await mkdir(home);
  const env = { PATH: process.env["PATH"], HOME: home, TMPDIR: home, TERM: "dumb", LANG: "C.UTF-8" };
  await run([...command, "--version"], 60_000, env);
  await rm(home, { recursive: true, force: true });
}

async function run(command: string[], deadlineMs: number, env: NodeJS.ProcessEnv = process.env): Promise<void> {
  const child = Bun.spawn(command, {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    signal: AbortSignal.timeout(deadlineMs),
  });
  const [complaint, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code !== 0) throw new Error(`${command.join(" ")} ended with ${code}: ${complaint.trim().slice(-500)}`);
}

/** One installer at a time. A lock whose owner is dead is removed; the rename above keeps even a lost race harmless. */
async function withLock(lock: string, done: () => boolean, work: () => Promise<void>): Promise<void> {
  while (!done()) {
    if (!(await acquire(lock))) {
      if (!(await ownerAlive(lock))) await rm(lock, { recursive: true, force: true });
      else await Bun.sleep(200);
      continue;
    }
    try {
      if (!done()) await work();
    } finally {
      await rm(lock, { recursive: true, force: true });
    }
  }
}

async function acquire(lock: string): Promise<boolean> {
  try {
    await mkdir(lock);
    await writeFile(join(lock, "pid"), String(process.pid));
    return true;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw thrown;
  }
}

async function ownerAlive(lock: string): Promise<boolean> {
  const pid = Number(await readFile(join(lock, "pid"), "utf8").catch(() => ""));
  if (pid > 0) return isAlive(pid);
  // Between mkdir and the write of the pid the lock is young and has no owner yet.
  const born = await stat(lock).then(
    (found) => found.mtimeMs,
    () => Date.now(),
  );
  return Date.now() - born < 10_000;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code === "EPERM";
  }
}

if (import.meta.main) {
  const names = process.argv.slice(2);
  for (const program of Object.keys(pins) as AgentProgram[]) {
    if (names.length > 0 && !names.includes(program)) continue;
    const result = await installAgent(program);
    console.log(
      "missing" in result ? `${program} MISSING: ${result.missing}` : `${program} ${result.command.join(" ")}`,
    );
  }
}
