import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** scripts/setup on machines that are made of stubs: what is on PATH is all that there is. */
const root = join(import.meta.dir, "..");
const testPrograms = ["nats-server", "chromium", "dash", "fish", "zsh", "bwrap", "busybox", "pasta", "ip", "faketime"];

let machine: string;
beforeEach(() => {
  machine = mkdtempSync(join(tmpdir(), "tieline-setup-"));
  mkdirSync(join(machine, "bin"));
  for (const tool of ["sh", "dirname", "sed", "cat", "env", "mkdir"])
    symlinkSync(Bun.which(tool)!, join(machine, "bin", tool));
  program("uname", "echo Linux");
  program("id", "echo 1000");
});
afterEach(() => rmSync(machine, { recursive: true }));

function program(name: string, body = ":"): void {
  const path = join(machine, "bin", name);
  rmSync(path, { force: true });
  writeFileSync(path, `#!/bin/sh\n${body}\n`);
  chmodSync(path, 0o755);
}

/** A package manager that writes down how it was called, and really "installs". */
function packageManager(name: string, installs: Record<string, string> = { tmux: "echo tmux 3.4" }): void {
  const made = Object.entries(installs).map(
    ([what, body]) =>
      `case " $* " in *" ${what} "*) printf '#!/bin/sh\\n${body}\\n' >"${machine}/bin/${what}"; /bin/chmod ` +
      `+x "${machine}/bin/${what}";; esac`,
  );
  program(
    name,
    `echo "${name} $*" >>"${machine}/calls"\ncase " $* " in *" install "*) ;; *) exit 0;; esac\n${made.join("\n")}`,
  );
}

function setup(...args: string[]): { code: number; said: string; calls: string[] } {
  const { exitCode, stdout, stderr } = Bun.spawnSync(["/bin/sh", join(root, "scripts/setup"), ...args], {
    env: { PATH: join(machine, "bin"), HOME: machine },
    stdin: "ignore",
  });
  const calls = join(machine, "calls");
  return {
    code: exitCode,
    said: stdout.toString() + stderr.toString(),
    calls: existsSync(calls) ? readFileSync(calls, "utf8").trim().split("\n") : [],
  };
}

describe("where everything is there", () => {
  test.each(["tmux 3.2", "tmux 3.3a", "tmux 3.10", "tmux 4.0", "tmux next-3.5", "tmux master"])(
    "%s is enough, and nothing is said",
    (version) => {
      program("tmux", `echo ${version}`);
      expect(setup()).toEqual({ code: 0, said: "", calls: [] });
    },
  );

  test("the tests need more, and are content with a Chrome by another name", () => {
    program("tmux", "echo tmux 3.4");
    for (const name of testPrograms) program(name === "chromium" ? "google-chrome" : name);
    expect(setup("--tests")).toEqual({ code: 0, said: "", calls: [] });
  });
});

describe("where something is missing", () => {
  test("root installs it with apt, asking nothing, after renewing the lists", () => {
    program("id", "echo 0");
    packageManager("apt-get");
    const { code, calls } = setup();
    expect(code).toBe(0);
    expect(calls).toHaveLength(2);
    expect(calls[0]).toStartWith("apt-get update");
    expect(calls[1]).toMatch(/^apt-get install -y .* tmux$/);
  });

  test("only what is missing is installed", () => {
    program("id", "echo 0");
    program("tmux", "echo tmux 3.4");
    for (const name of testPrograms.filter((one) => one !== "busybox")) program(name);
    packageManager("apt-get", { busybox: ":" });
    const { calls, code } = setup("--tests");
    expect(code).toBe(0);
    expect(calls.at(-1)).toMatch(/Timeout=300 busybox$/);
  });

  test("sudo is used when it asks for no password", () => {
    packageManager("apt-get");
    program("sudo", `[ "$1" = -n ] || exit 1; shift; echo "sudo $*" >>"${machine}/calls"; exec "$@"`);
    program("true");
    const { code, calls } = setup();
    expect(code).toBe(0);
    expect(calls.filter((call) => call.startsWith("sudo apt-get update"))).toHaveLength(1);
  });

  test("without the right to install, it says what to run and ends with 5", () => {
    packageManager("apt-get");
    program("sudo", "exit 1");
    const { code, said, calls } = setup("--tests");
    expect(code).toBe(5);
    expect(calls).toEqual([]);
    expect(said).toMatch(
      /sudo apt-get update && sudo apt-get install -y tmux .*dash fish zsh bubblewrap busybox passt/,
    );
    expect(said).toContain("tmux 3.2 or newer; found: none");
  });

  test("a system that it does not know gets the names", () => {
    const { code, said } = setup();
    expect(code).toBe(5);
    expect(said).toContain("install with your system's package manager: tmux");
  });

  test("macOS uses brew and misses no Linux program", () => {
    program("uname", "echo Darwin");
    packageManager("brew", {
      tmux: "echo tmux 3.5a",
      chromium: ":",
      dash: ":",
      fish: ":",
      zsh: ":",
      "nats-server": ":",
    });
    const { code, calls } = setup("--tests");
    expect(code).toBe(0);
    expect(calls).toContain("brew install tmux");
    expect(calls.includes("brew install --cask chromium")).toBe(!existsSync("/Applications/Google Chrome.app"));
    expect(calls.join()).not.toContain("bubblewrap");
  });

  test("a tmux that stays too old after the installation is named", () => {
    program("id", "echo 0");
    program("tmux", "echo tmux 3.1c");
    packageManager("apt-get", {});
    const { code, said } = setup();
    expect(code).toBe(5);
    expect(said).toContain("still missing after the installation: tmux");
    expect(said).toContain("found: tmux 3.1c");
  });

  test("an installation that fails is not taken for one", () => {
    program("id", "echo 0");
    program("apt-get", "echo 'E: no network' >&2; exit 100");
    const { code, said } = setup();
    expect(code).toBe(5);
    expect(said).toContain("apt-get could not install: tmux");
  });
});

test("a checkout without Bun says to run npm install", () => {
  mkdirSync(join(machine, "checkout/scripts"), { recursive: true });
  for (const script of ["setup", "find-bun"])
    writeFileSync(join(machine, "checkout/scripts", script), readFileSync(join(root, "scripts", script)));
  const { exitCode, stderr } = Bun.spawnSync(["/bin/sh", join(machine, "checkout/scripts/setup")], {
    env: { PATH: join(machine, "bin") },
  });
  expect({ exitCode, said: stderr.toString() }).toEqual({
    exitCode: 5,
    said: "setup: Bun is missing beside Tieline; run npm install\n",
  });
});

test("an unknown option is a usage error", () => {
  expect(setup("--everything").code).toBe(2);
});
