/** A program is delivered to however its profile spells the command that starts it. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import type { ReceiptView } from "../src/api/schema.ts";
import { submittedTo } from "../src/testing/scriptedAgent.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const busybox = Bun.which("busybox");
const commands: Readonly<Record<string, readonly string[]>> = {
  relative: ["./mybot"],
  folders: ["./bots/../bots/mybot"],
  linked: ["./link"],
  spaces: ["./with space/my bot"],
  script: ["./script.sh"],
  nested: ["./nested.sh"],
  long: ["./a-name-longer-than-the-fifteen-characters-the-kernel-keeps"],
  renamed: ["bash", "-c", "exec -a 'another name' ./mybot"],
  unnamed: ["bash", "-c", "exec -a '' ./mybot"],
  ...(busybox && { applet: [busybox, "cat"] }),
};

let world: World;
beforeAll(async () => {
  const agents = Object.fromEntries(Object.entries(commands).map(([name, command]) => [name, { command }]));
  const scripted = join(import.meta.dir, "../src/testing/scriptedAgent.ts");
  const claude = { provider: "claude-code", command: ["./dlg/claude", scripted, "dlg"] };
  // JSON is YAML too.
  const files = {
    "tieline.yaml": JSON.stringify({ team: "web", agents: { ...agents, claude } }),
    "dlg/.keep": "",
    "bots/.keep": "",
    "with space/.keep": "",
  };
  world = await startWorld({ files, trusted: false });
  const program = (path: string, target: string): void => symlinkSync(target, join(world.project, path));
  for (const path of ["mybot", "bots/mybot", "link", "with space/my bot", commands["long"]![0]!])
    program(path, Bun.which("cat")!);
  program("dlg/claude", process.execPath);
  for (const [path, command] of [
    ["script.sh", "exec cat"],
    ["nested.sh", "./mybot"],
  ] as const)
    chmodSync(world.file(path, `#!/bin/sh\n${command}\n`), 0o755);
  await world.trust();
});
afterAll(() => world[Symbol.asyncDispose]());

test.each(Object.keys(commands))("%s", async (name) => {
  await world.json(["spawn", name]);
  const { tag } = await world.json<ReceiptView>(["send", name, "--wait", "delivered", "hello"]);
  const { pane } = (await world.ls()).find((one) => one.name === name)!;
  expect(await world.screen(pane!)).toContain(tag);
});

test("Claude Code at a relative path", async () => {
  await world.json(["spawn", "claude"]);
  const { tag } = await world.json<ReceiptView>(["send", "claude", "--wait", "delivered", "hello"]);
  expect(submittedTo(join(world.project, "dlg"))).toEqual([expect.stringContaining(tag)]);
});
