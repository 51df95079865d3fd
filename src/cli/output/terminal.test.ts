import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startWorld } from "../../testing/world.ts";

test.each([
  ["prints nothing, appending to a file", 'ls --names >> "$1"'],
  ["fails without output, appending its errors to a file", 'ask no-such-agent hello 2>> "$1"'],
  ["prints nothing into a file that others write to", 'ls --names 1<> "$1"'],
])("a command that %s leaves the file's content", async (_, line) => {
  await using world = await startWorld();
  const file = join(world.dir, "kept");
  writeFileSync(file, "kept\n".repeat(1_000));
  const command = `"$0" ${line}`;
  const child = Bun.spawn(["sh", "-c", command, join(import.meta.dir, "../../../bin/tieline"), file], {
    cwd: world.project,
    env: world.env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  await child.exited;
  expect(readFileSync(file, "utf8")).toStartWith("kept\n".repeat(1_000));
});
