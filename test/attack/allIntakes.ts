/**
 * Run by inotify.attack.test.ts, where no directory can be watched: says why, and that mail arrived by every intake.
 */
import { watch } from "node:fs";
import { startIntakes } from "./intakes.ts";

try {
  watch("/", () => undefined).close();
  console.log("watched");
} catch (thrown) {
  console.log((thrown as NodeJS.ErrnoException).code);
}
await using intakes = await startIntakes();
intakes.write("now");
await intakes.arrived("now");
const sent = await intakes.world.tieline(["send", "--wait", "delivered", "ana", "hello"]);
if (sent.code !== 0) throw new Error(sent.stderr);
console.log("all arrived");
