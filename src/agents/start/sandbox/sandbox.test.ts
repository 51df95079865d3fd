import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Profile } from "../../../model/profile.ts";
import { installAdvice } from "../../../os/installAdvice.ts";
import { isWithin } from "../../../os/paths.ts";
import { aProfile } from "../../../testing/profiles.ts";
import { resolverFile, resolverText } from "./network.ts";
import { sandboxedLaunch, type Run, type SandboxOptions } from "./sandbox.ts";
import { terminalFilter } from "./seccomp.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tl-sandbox-")));
  for (const name of ["workspace", "home", "other", "keys"]) mkdirSync(join(root, name));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const permitted: Run = async () => ({ code: 0, stderr: "" });

function options(fields: Partial<Profile>, more: Partial<SandboxOptions> = {}): SandboxOptions {
  return {
    profile: aProfile({ name: "coder", workspace: join(root, "workspace"), ...fields }),
    command: ["sh", "-c", "true"],
    env: { TIELINE_TOKEN: "secret", TIELINE_HOME: join(root, "home"), KEY: "value", PATH: process.env["PATH"]! },
    cwd: null,
    binDirectory: "/opt/tieline/bin",
    home: join(root, "home"),
    place: join(root, "home", "sandboxes", "1"),
    otherWorkspaces: [join(root, "other")],
    secrets: [join(root, "keys")],
    decisive: [],
    decisiveDirectories: [],
    uid: 1000,
    run: permitted,
    isThere: () => true,
    ...more,
  };
}

/** What is mounted by one kind of option: where it is inside, by its order. */
const mounts = (command: readonly string[], option: string): string[] =>
  command.flatMap((word, at) => (word === option ? [command[at + (option === "--tmpfs" ? 1 : 2)]!] : []));

describe("sandboxes", () => {
  test("none changes nothing", async () => {
    const given = options({ sandbox: "none" });
    expect(await sandboxedLaunch(given)).toEqual({ command: given.command, env: given.env, cwd: null });
  });

  test("a wrapper comes in front, knows the workspace, and gets no secret of ours", async () => {
    const { command, env } = await sandboxedLaunch(
      options({ sandbox: "command", sandboxCommand: ["docker", "run", "-v", "{workspace}:/workspace"] }),
    );
    expect(command).toEqual(["docker", "run", "-v", `${join(root, "workspace")}:/workspace`, "sh", "-c", "true"]);
    expect(env).toMatchObject({ TIELINE_SANDBOX: "1", KEY: "value" });
    expect(Object.keys(env)).not.toContain("TIELINE_TOKEN");
    expect(Object.keys(env)).not.toContain("TIELINE_HOME");
  });

  test("bubblewrap: own namespaces, no capabilities, the system read-only, values never in the arguments", async () => {
    const { command, env, cwd } = await sandboxedLaunch(options({ sandbox: "bwrap", network: "none" }));
    const words = command.join(" ");
    for (const wall of [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-net",
      "--cap-drop ALL",
      "--seccomp 8",
      "--tmpfs /tmp",
      "--ro-bind /usr /usr",
      `--bind ${join(root, "workspace")} /workspace`,
    ])
      expect(words).toContain(wall);
    expect(words).not.toContain("value");
    expect(words).not.toContain("secret");
    expect(env).toMatchObject({ SWARM_WORKSPACE: "/workspace", HOME: "/workspace", TIELINE_SANDBOX: "1" });
    expect(cwd).toBe(join(root, "workspace"));
  });

  test.each([
    ["internet", [], "--tcp-ns none", false],
    ["internet", [11434, 8080], "--tcp-ns '\\''11434,8080", false],
    ["none", [], "--unshare-net", true],
  ] as const)("network: %s with host ports %j", async (network, hostPorts, words, closed) => {
    const command = (await sandboxedLaunch(options({ sandbox: "bwrap", network, hostPorts }))).command.join(" ");
    expect(command).toContain(words);
    expect(command.includes("pasta ")).toBe(!closed);
    if (!closed)
      for (const word of [
        "--no-map-gw",
        "--tcp-ports none",
        "--udp-ports none",
        "--udp-ns none",
        "unshare --user --map-current-user --net",
        "--sync-fd 9",
      ])
        expect(command).toContain(word);
  });

  test("network: host leaves the network as it is", async () => {
    const command = (await sandboxedLaunch(options({ sandbox: "bwrap", network: "host" }))).command.join(" ");
    expect(command).not.toContain("--unshare-net");
    expect(command).not.toContain("pasta");
  });

  test("what must not be seen and lies in a mounted directory is covered", async () => {
    const { command } = await sandboxedLaunch(
      options(
        { sandbox: "bwrap", readable: [join(root, "shared")] },
        {
          otherWorkspaces: [join(root, "shared", "other")],
          secrets: [join(root, "workspace", "keys"), join(root, "missing")],
          ...made("shared/other", "workspace/keys"),
        },
      ),
    );
    expect(mounts(command, "--tmpfs")).toEqual(["/tmp", join(root, "shared", "other"), "/workspace/keys"]);
  });

  test("another agent's workspace is readable where `readable` names it", async () => {
    const { command } = await sandboxedLaunch(options({ sandbox: "bwrap", readable: [join(root, "other")] }));
    expect(mounts(command, "--ro-bind")).toContain(join(root, "other"));
    expect(mounts(command, "--tmpfs")).toEqual(["/tmp"]);
  });

  test("files that decide about programs outside are read-only, and their directories cannot be renamed", async () => {
    const workspace = join(root, "workspace");
    for (const directory of [".git/hooks", ".tieline/agents", "objects/deep"])
      mkdirSync(join(workspace, directory), { recursive: true });
    for (const file of ["tieline.yaml", "objects/deep/ledger.ts", "objects/tick.ts"])
      writeFileSync(join(workspace, file), "");
    const decisive = ["tieline.yaml", "objects/deep/ledger.ts", "objects/tick.ts", "not/there"].map((name) =>
      join(workspace, name),
    );
    const { command } = await sandboxedLaunch(
      options(
        { sandbox: "bwrap" },
        {
          decisive: [...decisive, join(root, "elsewhere")],
          decisiveDirectories: [
            join(workspace, ".tieline"),
            join(workspace, "sub/.tieline"),
            join(root, "no/.tieline"),
          ],
        },
      ),
    );
    const inWorkspace = (option: string): string[] =>
      mounts(command, option).filter((path) => path.startsWith("/workspace"));
    expect(inWorkspace("--ro-bind")).toEqual([
      "/workspace/.git",
      "/workspace/.tieline",
      "/workspace/objects/deep/ledger.ts",
      "/workspace/objects/tick.ts",
      "/workspace/sub/.tieline",
      "/workspace/tieline.yaml",
    ]);
    expect(inWorkspace("--bind")).toEqual([
      "/workspace",
      "/workspace/objects",
      "/workspace/objects/deep",
      "/workspace/sub",
    ]);
  });

  test.each([
    [
      "bubblewrap is missing",
      { sandbox: "bwrap" as const },
      { isThere: (program: string) => program === "apt-get" },
      "bubblewrap is not installed",
      "run: sudo apt-get install -y bubblewrap",
    ],
    [
      "pasta is missing",
      { sandbox: "bwrap" as const },
      { isThere: (program: string) => program !== "pasta" && program !== "apt-get" },
      "`network: internet` needs pasta",
      "run: sudo dnf install -y passt",
    ],
    [
      "bubblewrap may not make namespaces",
      { sandbox: "bwrap" as const },
      { run: async () => ({ code: 1, stderr: "bwrap: No permissions to create new namespace" }) },
      "No permissions",
      "allow unprivileged user namespaces",
    ],
    [
      "the machine has no network",
      { sandbox: "bwrap" as const },
      { run: async () => ({ code: 1, stderr: "External interface not usable" }) },
      "no route to a network",
      "`network: none`",
    ],
    [
      "there is no workspace",
      { sandbox: "bwrap" as const, workspace: null },
      {},
      "no workspace",
      "give it a `workspace:`",
    ],
    [
      "a wrapper is wanted and none given",
      { sandbox: "command" as const, sandboxCommand: null },
      {},
      "sandboxCommand",
      "sandboxCommand",
    ],
  ] as [string, Partial<Profile>, Partial<SandboxOptions>, string, string][])(
    "when %s nothing is started",
    async (_, fields, more, why, remedy) => {
      await expect(sandboxedLaunch(options(fields, more))).rejects.toMatchObject({
        code: "SPAWN_FAILED",
        message: expect.stringContaining(why),
        remedy: expect.stringContaining(remedy),
      });
    },
  );

  test("root's sandbox does not see what only root may read", async () => {
    expect(mounts((await sandboxedLaunch(options({ sandbox: "bwrap" }, { uid: 0 }))).command, "--ro-bind")).toContain(
      "/etc/shadow",
    );
  });

  test("without pasta the other networks work", async () => {
    const isThere = (program: string): boolean => program === "bwrap";
    for (const network of ["none", "host"] as const)
      expect((await sandboxedLaunch(options({ sandbox: "bwrap", network }, { isThere }))).command).toContain("bwrap");
  });

  test("a workspace around our home, or a readable path into it, is refused", async () => {
    await expect(sandboxedLaunch(options({ sandbox: "bwrap", workspace: root }))).rejects.toMatchObject({
      code: "SPAWN_FAILED",
    });
    for (const readable of [root, join(root, "home"), join(root, "home", "deep")]) {
      await expect(sandboxedLaunch(options({ sandbox: "bwrap", readable: [readable] }))).rejects.toMatchObject({
        code: "SPAWN_FAILED",
      });
    }
  });

  test("a link in the place of what must stay as it is, is refused", async () => {
    symlinkSync("elsewhere", join(root, "workspace", ".git"));
    await expect(sandboxedLaunch(options({ sandbox: "bwrap" }))).rejects.toMatchObject({
      code: "SPAWN_FAILED",
      message: expect.stringContaining(".git is a link"),
    });
  });

  test.each([
    ["/a/b", "/a", true],
    ["/a", "/a", true],
    ["/ab", "/a", false],
    ["/a", "/a/b", false],
    ["/a/..b", "/a", true],
  ])("%s within %s: %p", (path, outer, within) => expect(isWithin(path, outer)).toBe(within));
});

describe("names of outgoing connections", () => {
  test.each([
    [
      "a resolver on the loopback",
      "nameserver 127.0.0.53\noptions edns0\nsearch lan\n",
      "nameserver 169.254.1.1\noptions edns0\nsearch lan\n",
    ],
    ["IPv6 only", "nameserver fe80::1%eth0\n", "nameserver fd74:6965:6c69::53\n"],
    [
      "both",
      "nameserver 2001:db8::1\nnameserver 192.0.2.53\n",
      "nameserver 169.254.1.1\nnameserver fd74:6965:6c69::53\n",
    ],
    ["none", "# nothing\n", "nameserver 169.254.1.1\n"],
  ])("%s", (_, outside, inside) => {
    const file = join(root, "resolv.conf");
    writeFileSync(file, outside);
    expect(resolverText(file)).toBe(inside);
  });

  test("the file is the one that links lead to, whether it is there or not", () => {
    writeFileSync(join(root, "stub"), "");
    symlinkSync("stub", join(root, "resolv.conf"));
    symlinkSync("../run/stub", join(root, "dangling"));
    expect([
      resolverFile(join(root, "resolv.conf")),
      resolverFile(join(root, "dangling")),
      resolverFile(join(root, "stub")),
    ]).toEqual([join(root, "stub"), join(root, "../run/stub"), join(root, "stub")]);
  });
});

test("the filter knows the machines that are common, and says so of the others", () => {
  expect(terminalFilter("x64", "LE")!.length % 8).toBe(0);
  expect(terminalFilter("arm64", "LE")!.length % 8).toBe(0);
  expect([terminalFilter("s390x", "BE"), terminalFilter("x64", "BE"), terminalFilter("riscv64", "LE")]).toEqual([
    null,
    null,
    null,
  ]);
});

test("how to install a package depends on the system", () => {
  expect(installAdvice("passt", (program) => program === "pacman")).toBe("run: sudo pacman -S --needed passt");
  expect(installAdvice("passt", () => false)).toBe("install the package passt with your system's package manager");
});

function made(...directories: string[]): object {
  for (const directory of directories) mkdirSync(join(root, directory), { recursive: true });
  return {};
}
