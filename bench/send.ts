/**
 * `tieline send`, from exec to exit and durable, against an empty Bun script that is started the same way: compiled, as
 * the package runs it, and from its sources, as a checkout does.
 */
import { chmodSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { repository, unpackPackage } from "../src/testing/packedPackage.ts";
import { startWorld } from "../src/testing/world.ts";
import { interleaved, median, ms, report } from "./support/measure.ts";

await using world = await startWorld();
const pane = await world.pane(["cat"]);
await world.json(["adopt", pane, "--name", "ana"]);

const empty = join(world.dir, "empty");
writeFileSync(join(world.dir, "empty.ts"), "");
writeFileSync(empty, `#!/bin/sh\nexec ${process.execPath} --no-install ${join(world.dir, "empty.ts")}\n`);
chmodSync(empty, 0o755);

const installed = await unpackPackage(world.dir);
symlinkSync(join(repository, "node_modules"), join(installed, "node_modules"));
const [inPackage, inCheckout] = [join(installed, "bin/tieline"), join(repository, "bin/tieline")];
const run = (argv: string[]) =>
  Bun.spawn(argv, { cwd: world.project, env: world.env, stdout: "ignore", stderr: "ignore" }).exited;

const candidates = {
  empty: () => run([empty]),
  refused: () => run([inPackage, "send", "user2", "x"]),
  package: () => run([inPackage, "send", "ana", "hello"]),
  checkout: () => run([inCheckout, "send", "ana", "hello"]),
};
await interleaved(5, candidates);
const times = await interleaved(60, candidates);
const floor = median(times["empty"]!);
report(
  "tieline send, exec to exit",
  median(times["package"]!) / floor,
  3,
  ["package", "refused", "checkout", "empty"].map((name) => `${name} ${ms(median(times[name]!))}`).join(", "),
);
