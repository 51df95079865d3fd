import { expect, test } from "bun:test";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { direct, isListening, scriptedAgentCommand } from "../../testing/scriptedAgent.ts";
import { until } from "../../testing/until.ts";
import { startWorld } from "../../testing/world.ts";

test("`ls --watch` shows each change as it comes, and watches nothing when it ends", async () => {
  await using world = await startWorld();
  const dir = join(world.dir, "ana");
  mkdirSync(dir);
  const pane = await world.pane(scriptedAgentCommand(dir));
  await until(() => isListening(dir), "ana");
  await world.json(["adopt", pane, "--name", "ana", "--provider", "claude-code"]);
  const launcher = new URL("../../../bin/tieline", import.meta.url).pathname;
  const watching = Bun.spawn([launcher, "ls", "--watch", "--json"], {
    cwd: world.project,
    env: world.env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  let shown = "";
  const reading = (async () => {
    const decoder = new TextDecoder();
    for await (const chunk of watching.stdout) shown += decoder.decode(chunk, { stream: true });
  })();
  const clients = async (): Promise<number> =>
    (await world.tmux("list-clients", "-F", "#{client_pid}")).split("\n").length;
  await until(
    async () => shown.includes('"state":"idle"') && (await clients()) === 2,
    "the first picture and the watcher",
  );
  await direct(dir, { state: "permission" });
  await until(() => shown.includes('"state":"permission"'), "the dialog to be shown");
  await direct(dir, { state: "idle", draft: "half a thou" });
  await until(() => shown.includes('"draft":true'), "the draft to be shown");

  watching.kill("SIGINT");
  await Promise.all([reading, watching.exited]);
  await until(async () => (await clients()) === 1, "the watcher to leave");
  expect(watching.exitCode).toBe(0);
}, 60_000);
