import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Profile } from "../model/profile.ts";
import { aProfile } from "../testing/profiles.ts";
import { isWithin, sandboxedLaunch, type Run, type SandboxOptions } from "./sandbox.ts";

let root: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "tl-sandbox-")));
  for (const name of ["workspace", "home", "other"]) mkdirSync(join(root, name));
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
    hidden: [join(root, "home"), join(root, "other")],
    run: permitted,
    ...more,
  };
}

describe("sandboxes", () => {
  test("none changes nothing", async () => {
    const given = options({ sandbox: "none" });
    expect(await sandboxedLaunch(given)).toEqual({ command: given.command, env: given.env, cwd: null });
  });

  test("a wrapper comes in front, knows the workspace, and gets no secret of ours", async () => {
    const { command, env } = await sandboxedLaunch(options({ sandbox: "command", sandboxCommand: ["docker", "run", "-v", "{workspace}:/workspace"] }));
    expect(command).toEqual(["docker", "run", "-v", `${join(root, "workspace")}:/workspace`, "sh", "-c", "true"]);
    expect(env).toMatchObject({ TIELINE_SANDBOX: "1", KEY: "value" });
    expect(Object.keys(env)).not.toContain("TIELINE_TOKEN");
    expect(Object.keys(env)).not.toContain("TIELINE_HOME");
  });

  test("bubblewrap: own namespaces, the system read-only, values never in the arguments", async () => {
    const { command, env, cwd } = await sandboxedLaunch(options({ sandbox: "bwrap", network: false }));
    const words = command.join(" ");
    for (const wall of ["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-net", "--tmpfs /tmp", "--ro-bind /usr /usr", `--bind ${join(root, "workspace")} /workspace`]) expect(words).toContain(wall);
    expect(words).not.toContain("value");
    expect(words).not.toContain("secret");
    expect(env).toMatchObject({ SWARM_WORKSPACE: "/workspace", HOME: "/workspace", TIELINE_SANDBOX: "1" });
    expect(cwd).toBe(join(root, "workspace"));
  });

  test("with the network, the network stays", async () => {
    expect((await sandboxedLaunch(options({ sandbox: "bwrap", network: true }))).command).not.toContain("--unshare-net");
  });

  test("what of ours lies in a mounted directory is covered", async () => {
    const { command } = await sandboxedLaunch(options({ sandbox: "bwrap" }, { system: ["/usr", root] }));
    const covered = command.filter((_, at) => command[at - 1] === "--tmpfs");
    expect(covered).toEqual(expect.arrayContaining([join(root, "home"), join(root, "other"), join(root, "workspace")]));
  });

  test.each([
    ["bubblewrap is missing", { sandbox: "bwrap" as const }, async () => null, "not installed"],
    ["bubblewrap may not make namespaces", { sandbox: "bwrap" as const }, async () => ({ code: 1, stderr: "bwrap: No permissions to create new namespace" }), "No permissions"],
    ["there is no workspace", { sandbox: "bwrap" as const, workspace: null }, permitted, "no workspace"],
    ["a wrapper is wanted and none given", { sandbox: "command" as const, sandboxCommand: null }, permitted, "sandboxCommand"],
  ])("when %s nothing is started", async (_, fields, run: Run, why) => {
    await expect(sandboxedLaunch(options(fields, { run }))).rejects.toMatchObject({ code: "SPAWN_FAILED", message: expect.stringContaining(why) });
  });

  test("a workspace around our home, or a readable path into it, is refused", async () => {
    await expect(sandboxedLaunch(options({ sandbox: "bwrap", workspace: root }))).rejects.toMatchObject({ code: "SPAWN_FAILED" });
    for (const readable of [root, join(root, "home"), join(root, "home", "deep")]) {
      await expect(sandboxedLaunch(options({ sandbox: "bwrap", readable: [readable] }))).rejects.toMatchObject({ code: "SPAWN_FAILED" });
    }
  });

  test.each([
    ["/a/b", "/a", true],
    ["/a", "/a", true],
    ["/ab", "/a", false],
    ["/a", "/a/b", false],
    ["/a/..b", "/a", true],
  ])("%s within %s: %p", (path, outer, within) => expect(isWithin(path, outer)).toBe(within));
});
