/**
 * Mail of an agent that would act where it is typed: as code in an interpreter, as a command in a shell, however that
 * is wrapped, as keys in a viewer or an editor. Real programs; each text would make a file, and none ever does.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient, type Client } from "../../src/client/client.ts";
import type { AgentView } from "../../src/api/schema.ts";
import { lackUnless, testUnless } from "../../src/testing/needing.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

let world: World;
let mallory: Client;
let sshd: Bun.Subprocess | null = null;
const sshPort = 20_000 + (process.pid % 20_000);

beforeAll(async () => {
  world = await startWorld({ config: { delivery: { quietMs: 40 }, spawn: { readyTimeoutMs: 2_000 } } });
  await world.tieline(["daemon", "start"]);
  const socket = join(world.env["TIELINE_HOME"]!, "daemon.sock");
  const userToken = (await Bun.file(join(world.env["TIELINE_HOME"]!, "user.token")).text()).trim();
  const { token } = await createClient({ socket }, { userToken }).call("register", { name: "mallory" });
  mallory = createClient({ socket }, { token });
});
afterAll(async () => {
  sshd?.kill();
  await world[Symbol.asyncDispose]();
});

const has = (program: string): boolean => Bun.which(program) !== null;
const needs = (program: string) => testUnless(lackUnless(has(program), `${program} is not installed`));
let count = 0;
const aFile = (): string => join(world.dir, `acted-${++count}`);

/** A pane with that program, as soon as it shows what it shows when it waits. */
async function paneWith(command: readonly string[], prompt: RegExp): Promise<string> {
  const pane = await world.pane(command);
  await until(
    async () => prompt.test(await world.screen(pane)),
    async () => `the prompt of ${command.join(" ")} in\n${await world.screen(pane)}`,
  );
  return pane;
}

async function agentIn(
  pane: string,
  provider?: string,
): Promise<{ code: number; stderr: string; name: string; agent: AgentView | null }> {
  const name = `agent${++count}`;
  const { code, stdout, stderr } = await world.tieline([
    "adopt",
    pane,
    "--name",
    name,
    "--json",
    ...(provider === undefined ? [] : ["--provider", provider]),
  ]);
  return { code, stderr: stderr + stdout, name, agent: code === 0 ? (JSON.parse(stdout) as AgentView) : null };
}

/** Waits until the message was delivered, or is held for a reason; a program that would act has acted by then. */
async function send(to: string, body: string): Promise<{ state: string; reason: string }> {
  const { tag } = await mallory.call("send", { to, body });
  let last = { state: "", reason: "" };
  await until(
    async () => {
      const [delivery] = (await world.status(tag)).deliveries;
      last = { state: delivery!.state, reason: delivery!.reason ?? "" };
      return (
        last.state !== "claimed" &&
        !(last.state === "queued" && (last.reason === "" || /still printing|being typed|computing/.test(last.reason)))
      );
    },
    () => `an outcome: ${JSON.stringify(last)}`,
  );
  return last;
}

describe("an interpreter", () => {
  const interpreters: readonly (readonly [
    name: string,
    command: readonly string[],
    prompt: RegExp,
    code: (file: string) => string,
  ])[] = [
    ["python3", ["python3", "-q"], /^>>>$/m, (file) => `__import__('os').system('touch ${file}')`],
    ["node", ["node"], /^>$/m, (file) => `require('fs').writeFileSync('${file}','')`],
    ["irb", ["irb", "-f", "--nomultiline"], /^irb.*>$/m, (file) => `system("touch ${file}")`],
    ["lua5.4", ["lua5.4"], /^>$/m, (file) => `os.execute("touch ${file}")`],
    ["sqlite3", ["sqlite3"], /^sqlite>$/m, (file) => `select 1; .shell touch ${file}`],
    ["gdb", ["gdb", "-q"], /^\(gdb\)$/m, (file) => `shell touch ${file}`],
  ];

  for (const [name, command, prompt, code] of interpreters) {
    needs(name)(
      `${name} is refused, and with --provider repl it gets a comment`,
      async () => {
        const pane = await paneWith(command, prompt);
        expect(await agentIn(pane)).toMatchObject({
          code: 3,
          stderr: expect.stringContaining("is an interpreter and would run what is typed"),
        });
        expect(await agentIn(pane, "generic")).toMatchObject({ code: 3 });
        const { code: adopted, name: agent, stderr } = await agentIn(pane, "repl");
        expect({ adopted, stderr }).toMatchObject({ adopted: 0 });
        const file = aFile();
        for (const body of [
          code(file),
          `${code(file)}\n${code(file)}`,
          `\n${code(file)}`,
          `x\t${code(file)}\t`,
          `x\r${code(file)}\r`,
          `x */ ?> \u2028${code(file)}`,
        ]) {
          const { state, reason } = await send(agent, body);
          expect({ body, state, reason }).toEqual({ body, state: "delivered", reason });
        }
        await world.tmux("send-keys", "-t", pane, "Enter");
        expect(existsSync(file)).toBe(false);
      },
      60_000,
    );
  }

  needs("php")("php is refused altogether: what it takes for a comment can end", async () => {
    const pane = await paneWith(["php", "-a"], /^php >$/m);
    expect(await agentIn(pane)).toMatchObject({ code: 3 });
    expect(await agentIn(pane, "repl")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("would leave alone"),
    });
  });
});

describe("a shell behind another program", () => {
  const shells: readonly (readonly [name: string, command: () => readonly string[]])[] = [
    ["script", () => ["script", "-qc", "bash --norc", "/dev/null"]],
    ["expect", () => ["expect", "-c", "spawn bash --norc; interact"]],
    ["unbuffer", () => ["unbuffer", "-p", "bash", "--norc"]],
    ["rlwrap", () => ["rlwrap", "bash", "--norc"]],
    ["nice", () => ["nice", "bash", "--norc"]],
    ["python3", () => ["python3", "-c", "import pty; pty.spawn(['bash','--norc'])"]],
    ["chroot", () => ["chroot", "/", "bash", "--norc"]],
    ["unshare", () => ["unshare", "--fork", "bash", "--norc"]],
  ];

  for (const [name, command] of shells) {
    needs(name)(
      `${name}: refused, and never typed into`,
      async () => {
        const pane = await paneWith(["PS1=shell$ ", ...command()], /[$#]$/m);
        for (const provider of [undefined, "generic", "repl"]) {
          const { code, name: agent } = await agentIn(pane, provider);
          // A program with a shell on a terminal of its own may be what the user means; without a prompt of its own it
          // gets nothing.
          if (code === 0) {
            expect([name, provider]).toEqual(["python3", "generic"]);
            const file = aFile();
            expect(await send(agent, `; touch ${file}; $(touch ${file})`)).toMatchObject({ state: "queued" });
            expect(existsSync(file)).toBe(false);
            expect(await world.tieline(["rm", agent, "--force"])).toMatchObject({ code: 0 });
          } else expect(await world.tieline(["send", agent, "hello"])).toMatchObject({ code: 3 });
        }
        const file = aFile();
        const { code, name: agent } = await agentIn(pane, "shell");
        if (code === 0) await send(agent, `'; touch ${file}; $(touch ${file}) \`touch ${file}\` !touch ${file}`);
        await world.tmux("send-keys", "-t", pane, "Enter");
        await world.tmux("send-keys", "-t", pane, "-l", "echo still $((40 + 2))");
        await world.tmux("send-keys", "-t", pane, "Enter");
        await until(async () => (await world.screen(pane)).includes("still 42"), "the shell");
        expect(existsSync(file)).toBe(false);
      },
      60_000,
    );
  }
});

describe("a shell on another machine", () => {
  const lack = lackUnless(
    process.getuid?.() === 0 && has("ssh") && existsSync("/usr/sbin/sshd"),
    "sshd and root are needed",
  );
  testUnless(lack)(
    "ssh, with a real server on the loopback: refused, and never typed into",
    async () => {
      const dir = join(world.dir, "ssh");
      mkdirSync(dir, { mode: 0o700 });
      mkdirSync("/run/sshd", { recursive: true });
      for (const key of ["host", "client"])
        Bun.spawnSync(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", join(dir, key)]);
      writeFileSync(join(dir, "authorized"), await Bun.file(join(dir, "client.pub")).text(), { mode: 0o600 });
      chmodSync(dir, 0o700);
      const settings = [
        `HostKey ${join(dir, "host")}`,
        `AuthorizedKeysFile ${join(dir, "authorized")}`,
        "ListenAddress 127.0.0.1",
        `Port ${sshPort}`,
        "StrictModes no",
        "UsePAM no",
        "PermitRootLogin yes",
        "PidFile none",
      ];
      writeFileSync(join(dir, "config"), `${settings.join("\n")}\n`);
      sshd = Bun.spawn(["/usr/sbin/sshd", "-D", "-e", "-f", join(dir, "config")], {
        stdin: "ignore",
        stdout: "ignore",
        stderr: "ignore",
      });
      await until(
        () => Bun.spawnSync(["ssh-keyscan", "-p", String(sshPort), "127.0.0.1"]).stdout.length > 0,
        "the server",
      );
      const options = [
        "-i",
        join(dir, "client"),
        "-o",
        "StrictHostKeyChecking=no",
        "-o",
        "UserKnownHostsFile=/dev/null",
        "-o",
        "LogLevel=ERROR",
        "-p",
        String(sshPort),
      ];
      const pane = await paneWith(
        ["ssh", "-tt", ...options, "127.0.0.1", "exec env PS1='shell$ ' bash --norc"],
        /^shell\$$/m,
      );
      expect(await agentIn(pane)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("cannot be seen from here"),
      });
      expect(await agentIn(pane, "generic")).toMatchObject({ code: 3 });
      const { code, name } = await agentIn(pane, "shell");
      expect(code).toBe(0);
      const file = aFile();
      await send(name, `'; touch ${file}; $(touch ${file}) \`touch ${file}\``);
      await world.tmux("send-keys", "-t", pane, "Enter");
      await world.tmux("send-keys", "-t", pane, "-l", "echo still $((40 + 2))");
      await world.tmux("send-keys", "-t", pane, "Enter");
      await until(async () => (await world.screen(pane)).includes("still 42"), "the shell there");
      expect(existsSync(file)).toBe(false);
    },
    60_000,
  );
});

describe("a program that takes keys", () => {
  const viewers: readonly (readonly [name: string, command: readonly string[], shows: RegExp])[] = [
    ["less", ["less", "/etc/services"], /services/],
    ["less", ["sh", "-c", "cat /etc/services | less -X"], /:$/m],
    ["man", ["man", "-P", "less", "less"], /LESS/],
    ["top", ["top"], /load average/],
    ["vim.tiny", ["vim.tiny", "-u", "NONE", "/etc/hosts"], /hosts/],
    ["htop", ["htop"], /Tasks/],
  ];

  for (const [name, command, shows] of viewers) {
    needs(name)(
      `${command.join(" ")}: nothing is typed, and it says so`,
      async () => {
        const pane = await world.pane(command);
        // Manual pages may be left out of small systems.
        await until(
          async () =>
            shows.test(await world.screen(pane)) ||
            (await world.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n").every((one) => one !== pane),
          "the program",
        );
        if (!(await world.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n").includes(pane)) return;
        const { code, name: agent, agent: adopted, stderr } = await agentIn(pane);
        expect({ code, stderr }).toMatchObject({ code: 0 });
        expect(adopted).toMatchObject({
          state: "unknown",
          reason: expect.stringMatching(/takes keys|full-screen|pager|no rule/),
        });
        const file = aFile();
        for (const body of [`!touch ${file}`, `\u001b:!touch ${file}`, `q`, `k1\n`])
          expect(await send(agent, body)).toMatchObject({ state: "queued" });
        await until(
          async () => (await world.ls()).some((one) => one.name === agent && one.pending === 4),
          "all of them wait",
        );
        expect((await world.tmux("list-panes", "-a", "-F", "#{pane_id}")).split("\n")).toContain(pane);
        expect(existsSync(file)).toBe(false);
      },
      60_000,
    );
  }
});

describe("a program that becomes something else while it is an agent", () => {
  const bot =
    `printf '> '; while read -r line; do case $line in become*) eval "\${line#become }" ;; esac; printf '> '; ` +
    "done";
  const becomes: readonly (readonly [name: string, what: string, prompt: RegExp, code: (file: string) => string])[] = [
    ["python3", "python3 -q", /^>>>$/m, (file) => `__import__('os').system('touch ${file}')`],
    ["node", "node", /^>$/m, (file) => `require('fs').writeFileSync('${file}','')`],
    ["sh", "PS1='shell$ ' sh", /^shell\$$/m, (file) => `; touch ${file}; $(touch ${file})`],
    ["bash", "PS1='shell$ ' bash --norc -i", /^shell\$$/m, (file) => `; touch ${file}; $(touch ${file})`],
    [
      "script",
      "PS1='shell$ ' script -qc 'bash --norc' /dev/null",
      /[$#]$/m,
      (file) => `; touch ${file}; $(touch ${file})`,
    ],
    ["less", "less -X /etc/services", /\/etc\/services|:$/m, (file) => `!touch ${file}`],
  ];

  for (const [name, what, prompt, code] of becomes) {
    needs(name)(
      `${what}: its mail is held`,
      async () => {
        const script = world.file(`bot-${++count}.sh`, bot);
        const pane = await paneWith(["sh", script], /^>$/m);
        const { code: adopted, name: agent } = await agentIn(pane);
        expect(adopted).toBe(0);
        expect(await send(agent, "hello")).toMatchObject({ state: "delivered" });
        await world.tmux("send-keys", "-t", pane, "-l", `become ${what}`);
        await world.tmux("send-keys", "-t", pane, "Enter");
        await world.tmux("clear-history", "-t", pane);
        await until(
          async () => prompt.test((await world.screen(pane)).split("\n").slice(1).join("\n")),
          "what it becomes",
        );
        const file = aFile();
        expect(await send(agent, code(file))).toMatchObject({ state: "queued" });
        await world.tmux("send-keys", "-t", pane, "Enter");
        expect(existsSync(file)).toBe(false);
      },
      60_000,
    );
  }
});

describe("a profile", () => {
  test.each([
    ["python3", "[python3]", "SPAWN_FAILED"],
    ["a database", "[sqlite3, x.db]", "SPAWN_FAILED"],
    ["a shell behind script", "[script, -qc, bash, /dev/null]", "SPAWN_FAILED"],
    ["a shell behind sudo and nice", "[nice, bash]", "SPAWN_FAILED"],
    ["a container", "[docker, exec, -it, box, sh]", "SPAWN_FAILED"],
    ["ssh", "[ssh, host]", "SPAWN_FAILED"],
  ])("that is %s is not started", async (_what, command, code) => {
    world.file("tieline.yaml", `team: default\nagents:\n  acts: { command: ${command} }\n`);
    await world.trust();
    expect(await world.tieline(["spawn", "acts"])).toMatchObject({ code: 4, stderr: expect.stringContaining(code) });
  });

  test.each(["[python3]", "[bash]", "[sqlite3]"])(
    "that gives %s its mail as standard input is not started",
    async (command) => {
      world.file("tieline.yaml", `team: default\nagents:\n  acts: { headless: true, command: ${command} }\n`);
      await world.trust();
      expect(await world.tieline(["spawn", "acts"])).toMatchObject({
        code: 4,
        stderr: expect.stringContaining("SPAWN_FAILED"),
      });
    },
  );
});
