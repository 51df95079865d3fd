import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { registry } from "../registry.ts";
import { agent } from "../commands/views.fixture.ts";

const tieline = commandLineWithDaemon();

describe("completions", () => {
  test.each([
    ["bash", ["bash", "-n"]],
    ["zsh", ["zsh", "-n"]],
    ["fish", ["fish", "-n"]],
  ])("the completions for %s name every command and are valid", async (shell, check) => {
    const { code, stdout } = await tieline.run(["completions", shell]);
    expect(code).toBe(0);
    for (const name of Object.keys(registry)) expect(stdout).toContain(name);
    if (!Bun.which(check[0]!)) return;
    const path = join(tieline.dir, "completions");
    writeFileSync(path, stdout);
    const checked = Bun.spawnSync([...check, path]);
    expect(checked.stderr.toString()).toBe("");
    expect(checked.exitCode).toBe(0);
  });

  test("the completions for bash complete", async () => {
    tieline.daemon.answers.ls = () => [agent(), agent({ name: "enoch" })];
    const { stdout } = await tieline.run(["completions", "bash"]);
    const complete = (...words: string[]): string[] => {
      const script =
        `${stdout}\nCOMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}); ` +
        `COMP_CWORD=${words.length - 1}; _tieline; printf '%s\\n' "\${COMPREPLY[@]}"`;
      return Bun.spawnSync(["bash", "-c", script], { env: tieline.env }).stdout.toString().trim().split("\n");
    };
    expect(complete("tieline", "br")).toEqual(["broadcast"]);
    expect(complete("tieline", "send", "--wait", "s")).toEqual(["seen"]);
    expect(complete("tieline", "daemon", "st")).toEqual(["start", "stop", "status"]);
    expect(complete("tieline", "send", "--tt")).toEqual(["--ttl"]);
    expect(complete("tieline", "setup", "--hooks", "c")).toEqual(["claude", "codex"]);
    expect(complete("tieline", "adopt", "--provider", "g")).toEqual(["gemini", "generic"]);
    expect(complete("tieline", "events", "--type", "delivery.d")).toEqual(["delivery.delivered"]);
  });
});
