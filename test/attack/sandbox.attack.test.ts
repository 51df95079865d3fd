import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keeping } from "../../src/testing/keeping.ts";
import { describeUnless, lackOfBubblewrap, lackOfPasta } from "../../src/testing/needing.ts";
import { lackOfNetworks, startNetworkLab, type NetworkLab } from "../../src/testing/networkLab.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const keep = keeping();

/**
 * Writes "name: what it printed" or "name: refused" for each attempt of a script to `results`, in its own directory.
 */
const attempts = (lines: Readonly<Record<string, string>>): string => `try() {
  name=$1
  out=$(timeout 10 sh -c "$2" 2>/tmp/err) || out=refused
  echo "$name: $out" >>results
}
${Object.entries(lines)
  .map(([name, line]) => `try ${name} '${line.replaceAll("'", `'\\''`)}'`)
  .join("\n")}
echo done >finished
exec sleep 1000000
`;

async function resultsIn(directory: string): Promise<Record<string, string>> {
  await until(() => existsSync(join(directory, "finished")), "the attempts to end", 60_000);
  const lines = readFileSync(join(directory, "results"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]));
}

describeUnless(lackOfBubblewrap())("an agent whose workspace is the project itself", () => {
  let world: World;
  let results: Record<string, string>;

  beforeAll(async () => {
    const script = attempts({
      rewrite: "cp evil.yaml tieline.yaml",
      replace: "cp evil.yaml x && mv -f x tieline.yaml",
      remove: "rm -f tieline.yaml",
      profile: "mkdir -p .tieline/agents && cp evil.md .tieline/agents/evil.md",
      profiles: "mv .tieline .old",
      module: "echo evil >objects/deep/module.ts",
      modules: "mv objects old",
      deeper: "mv objects/deep objects/old",
      script: "echo evil >bot.sh",
      hook: "echo evil >.git/hooks/pre-commit",
      config: 'git config core.fsmonitor "touch /tmp/x"',
      common: "echo evil >.git/commondir",
      repository: "mv .git .old",
      unmount: "umount /workspace/tieline.yaml",
      remount: "mount -o remount,rw /workspace/tieline.yaml",
      own: "echo mine >mine && cat mine",
    });
    const writeBoth =
      `mkdir -p .outbox; for to in evil user; do printf '{"to":"%s","content":"hello"}' $to >.outbox/.d && ` +
      "mv .outbox/.d .outbox/$to.json; done";
    world = await startWorld({
      files: {
        "tieline.yaml": `team: walls
agents:
  box: { command: [sh, run.sh], workspace: ., sandbox: bwrap, network: none, input: files }
  bot: { command: "./bot.sh --loop", autostart: false }
objects: { one: { module: objects/deep/module.ts } }
`,
        "run.sh": script.replace("echo done >finished", `${writeBoth}; echo done >finished`),
        "bot.sh": "exec cat\n",
        "objects/deep/module.ts": "export const onMessage = () => undefined;\n",
        ".git/hooks/.keep": "",
        ".git/config": "[core]\n\trepositoryformatversion = 0\n",
        ".git/HEAD": "ref: refs/heads/main\n",
      },
    });
    const escape = `command: [sh, -c, "id >${join(world.dir, "escaped")}"]`;
    world.file("evil.yaml", `team: walls\nagents:\n  evil: { ${escape} }\n`);
    world.file("evil.md", `---\n${escape}\n---\n`);
    await world.json(["up", "box"]);
    results = await resultsIn(world.project);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("writes its files, and nothing that decides about programs outside", () => {
    const { own, ...others } = results;
    expect(own).toBe("mine");
    expect(others).toEqual(Object.fromEntries(Object.keys(others).map((name) => [name, "refused"])));
    expect(readFileSync(join(world.project, "tieline.yaml"), "utf8")).toContain("workspace: .");
    expect(readdirSync(join(world.project, ".git")).toSorted()).toEqual(["HEAD", "config", "hooks"]);
  });

  test("has no agent of its own making started by a message to it", async () => {
    await until(async () => (await world.inbox("user")).some(({ from }) => from === "box"), "the honest message");
    await until(() => existsSync(join(world.project, ".outbox/.rejected/evil.json")), "the refusal of the other");
    expect(existsSync(join(world.dir, "escaped"))).toBe(false);
  });

  test("cannot have what is written over its workspace from outside started either", async () => {
    // As if the file had been written by other means.
    writeFileSync(join(world.project, "tieline.yaml"), readFileSync(join(world.project, "evil.yaml")));
    expect((await world.tieline(["send", "evil", "hello"])).stderr).toContain("error UNTRUSTED");
    expect(existsSync(join(world.dir, "escaped"))).toBe(false);
  });
});

describeUnless(lackOfBubblewrap())("a sandboxed program", () => {
  let world: World;
  let results: Record<string, string>;

  beforeAll(async () => {
    world = await startWorld();
    const room = join(world.project, "rooms/box");
    const keys = join(world.dir, ".ssh");
    for (const directory of [
      room,
      join(world.project, "rooms/other/.outbox"),
      join(world.project, "rooms/later"),
      join(world.project, "rooms/shared"),
      keys,
    ])
      mkdirSync(directory, { recursive: true });
    for (const [file, text] of [
      ["rooms/other/secret", "theirs"],
      ["rooms/later/secret", "theirs"],
      ["rooms/shared/word", "for all"],
    ] as const)
      world.file(file, text);
    writeFileSync(join(keys, "id_ed25519"), "key");
    const home = world.env["TIELINE_HOME"]!;
    world.file(
      "rooms/box/run.sh",
      attempts({
        capabilities: "sed -n 's/^Cap...:[[:space:]]*//p' /proc/self/status | sort -u",
        privileges: "grep -c '^NoNewPrivs:.*1$' /proc/self/status",
        mount: "mount -t tmpfs none /mnt || mkdir /tmp/m && mount -t tmpfs none /tmp/m",
        sysctl: "cat /proc/sys/kernel/core_pattern >/tmp/pattern && cat /tmp/pattern >/proc/sys/kernel/core_pattern",
        shadow: "cat /etc/shadow",
        home: `ls ${home}`,
        socket: `test -S ${home}/daemon.sock`,
        tmux: `ls ${world.dir}/tmux-*/private || ls /tmp/tmux-*`,
        ssh: `cat ${keys}/id_ed25519`,
        other: `cat ${world.project}/rooms/other/secret`,
        later: `cat ${world.project}/rooms/later/secret`,
        shared: `cat ${world.project}/rooms/shared/word`,
        processes: "test $(ls -d /proc/[0-9]* | wc -l) -gt 12",
        terminal: "test -t 0 </dev/tty && echo yes",
        perl: "perl -e 'print 1'",
        typed: `perl -e 'my $c = "x"; exit(ioctl(STDIN, 0x5412, $c) ? 0 : 1)' </dev/tty`,
        keyring: `perl -e 'exit(syscall(${process.arch === "arm64" ? 219 : 250}, 0, -4, 0) < 0 ? 1 : 0)'`,
        network: "test $(grep -c : /proc/net/dev) -gt 1",
      }),
    );
    world.file(
      "tieline.yaml",
      `team: walls
agents:
  box:
    { command: [sh, run.sh], workspace: rooms/box, sandbox: bwrap, network: none, readable: [rooms, ${world.dir}/.ssh] }
  other: { command: [cat], workspace: rooms/other }
  later: { command: [cat], workspace: rooms/later }
`,
    );
    await world.trust();
    await world.json(["up", "other", "box"]);
    results = await resultsIn(room);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  test("has no capabilities and cannot get any, whichever user runs Tieline", () => {
    expect([results["capabilities"], results["privileges"]]).toEqual(["0000000000000000", "1"]);
    for (const name of ["mount", "sysctl", "shadow"]) expect([name, results[name]]).toEqual([name, "refused"]);
  });

  test("sees nothing of the user's that could act for them", () => {
    for (const name of ["home", "socket", "tmux", "ssh", "processes", "network"])
      expect([name, results[name]]).toEqual([name, "refused"]);
  });

  test("types nothing into its terminal's input, and reaches no key ring", () => {
    // It has a terminal, and what the attempts are made with.
    expect([results["terminal"], results["perl"]]).toEqual(["yes", "1"]);
    for (const name of ["typed", "keyring"]) expect([name, results[name]]).toEqual([name, "refused"]);
  });

  test("reads a directory that was given to it, without the workspaces of others in it", () => {
    expect([results["shared"], results["other"], results["later"]]).toEqual(["for all", "refused", "refused"]);
  });
});

describeUnless(lackOfBubblewrap() ?? lackOfPasta() ?? lackOfNetworks())("a sandboxed program on a network", () => {
  let lab: NetworkLab;
  const ports = { loopback: 7001, everywhere: 7002, allowed: 7003 };
  beforeAll(async () => {
    lab = await startNetworkLab();
    await lab.serve("127.0.0.1", ports.loopback, "loopback");
    await lab.serve("::", ports.everywhere, "everywhere");
    await lab.serve("127.0.0.1", ports.allowed, "allowed");
  });
  afterAll(() => lab[Symbol.asyncDispose]());

  /** What a program gets from each place, with these settings of its profile. */
  async function reached(settings: string): Promise<{ world: World; results: Record<string, string> }> {
    const world = keep(await startWorld({ through: lab.onMachine }));
    const connect = (host: string, port: number): string =>
      `timeout 4 bash -c 'exec 3<>/dev/tcp/${host}/${port} && cat <&3'`;
    world.file(
      "room/run.sh",
      attempts({
        server: connect(lab.serverAddress, 80),
        named: connect(lab.serverName, 80),
        loopback: connect("127.0.0.1", ports.loopback),
        loopback6: connect("::1", ports.everywhere),
        everywhere: connect("127.0.0.1", ports.everywhere),
        own: connect(lab.machineAddress, ports.everywhere),
        gateway: connect(lab.gatewayAddress, ports.loopback),
        gatewayOpen: connect(lab.gatewayAddress, ports.everywhere),
        forwarder: connect("169.254.1.1", ports.loopback),
        allowed: connect("127.0.0.1", ports.allowed),
        daemon: `timeout 4 bash -c 'exec 3<>/dev/tcp/127.0.0.1/$(cat /workspace/port) && echo open'`,
        abstract: "grep -q @ /proc/net/unix",
      }),
    );
    world.file(
      "tieline.yaml",
      `team: walls\nagents:\n  box: { command: [sh, run.sh], workspace: room, sandbox: bwrap, ${settings} }\n`,
    );
    await world.trust();
    world.file("room/port", readFileSync(join(world.env["TIELINE_HOME"]!, "port"), "utf8"));
    await world.json(["up"]);
    return { world, results: await resultsIn(join(world.project, "room")) };
  }

  const nothing = Object.fromEntries(
    [
      "server",
      "named",
      "loopback",
      "loopback6",
      "everywhere",
      "own",
      "gateway",
      "gatewayOpen",
      "forwarder",
      "allowed",
      "daemon",
      "abstract",
    ].map((name) => [name, "refused"]),
  );

  test("reaches the internet by address and by name, and nothing of this machine", async () => {
    expect((await reached("input: files")).results).toEqual({ ...nothing, server: "internet", named: "internet" });
  }, 120_000);

  test("reaches the one port of this machine that its profile names", async () => {
    expect((await reached(`input: files, hostPorts: [${ports.allowed}]`)).results).toEqual({
      ...nothing,
      server: "internet",
      named: "internet",
      allowed: "allowed",
    });
  }, 120_000);

  test("reaches nothing with `network: none`, and everything only with `network: host`", async () => {
    expect((await reached("input: files, network: none")).results).toEqual(nothing);
    const { results } = await reached("input: files, network: host");
    expect(results).toMatchObject({ server: "internet", loopback: "loopback", allowed: "allowed", daemon: "open" });
  }, 120_000);

  test("leaves nothing behind when it ends, however it ends", async () => {
    const { world } = await reached("input: files");
    const place = (): string[] => [
      ...new Bun.Glob("sandboxes/*/network.*/pid").scanSync({ cwd: world.env["TIELINE_HOME"]! }),
    ];
    const [file] = place();
    const pid = Number(readFileSync(join(world.env["TIELINE_HOME"]!, file!), "utf8"));
    expect(existsSync(`/proc/${pid}`)).toBe(true);
    for (const name of ["finished", "results"]) rmSync(join(world.project, "room", name));
    // The next one comes while the last one is still ending.
    await world.json(["restart", "box"]);
    await until(() => !existsSync(`/proc/${pid}`), "the end of its network");
    expect(await resultsIn(join(world.project, "room"))).toMatchObject({ server: "internet" });
    await world.json(["kill", "box"]);
    await until(() => place().length === 0, "the end of the second one");
  }, 120_000);

  test("is not started without the program that connects it, and the error names the package", async () => {
    const world = keep(await startWorld());
    const bin = join(world.dir, "bin");
    mkdirSync(bin);
    for (const program of readdirSync("/usr/bin"))
      if (!program.startsWith("pasta")) Bun.spawnSync(["ln", "-s", join("/usr/bin", program), join(bin, program)]);
    world.file(
      "tieline.yaml",
      "team: walls\nagents:\n  box: { command: [sh, -c, 'touch ran; sleep 1000'], workspace: room, sandbox: bwrap }\n",
    );
    const env = { PATH: bin };
    await world.tieline(["trust", "--yes"], { env });
    const { code, stderr } = await world.tieline(["up"], { env });
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining(
        "error SPAWN_FAILED: box cannot be sandboxed: `network: internet` needs pasta, which is not installed",
      ),
    ]);
    expect(stderr).toContain("passt");
    expect(existsSync(join(world.project, "room/ran"))).toBe(false);
  });
});

describe("the old words for the network", () => {
  test.each(["true", "false"])("network: %s is refused with the new ones", async (value) => {
    const world = keep(
      await startWorld({
        trusted: false,
        files: { "tieline.yaml": `agents:\n  box: { command: [cat], network: ${value} }\n` },
      }),
    );
    const { code, stderr } = await world.tieline(["up"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining(`agents.box.network is ${value}, but must be one of internet, none, host`),
    ]);
  });
});
