/** `tieline send`, from exec to exit and durable, against an empty Bun script that is started the same way. */
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startWorld } from "../src/testing/world.ts";
import { interleaved, median, ms, report } from "./support/measure.ts";

await using world = await startWorld();
const pane = await world.pane(["cat"]);
await world.json(["adopt", pane, "--name", "ana"]);

const empty = join(world.dir, "empty");
writeFileSync(join(world.dir, "empty.ts"), "");
writeFileSync(empty, `#!/bin/sh\nexec ${process.execPath} --no-install ${join(world.dir, "empty.ts")}\n`);
chmodSync(empty, 0o755);

const launcher = new URL("../bin/tieline", import.meta.url).pathname;
const run = (argv: string[]) =>
  Bun.spawn(argv, { cwd: world.project, env: world.env, stdout: "ignore", stderr: "ignore" }).exited;

const candidates = {
  empty: () => run([empty]),
  send: () => run([launcher, "send", "user2", "x"]),
  accepted: () => run([launcher, "send", "ana", "hello"]),
};
await interleaved(5, candidates);
const times = await interleaved(60, candidates);
const floor = median(times["empty"]!);
report(
  "tieline send, exec to exit",
  median(times["accepted"]!) / floor,
  3,
  `send ${ms(median(times["accepted"]!))}, refused ${ms(median(times["send"]!))}, empty script ${ms(floor)}`,
);
