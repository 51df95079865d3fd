/**
 * Run by nats.attack.test.ts in a network of its own: prints what a server of another user at localhost:4222 saw, as
 * JSON.
 */
import { until } from "../../src/testing/until.ts";
import { startWorld } from "../../src/testing/world.ts";

const unprivileged = 65_534;
// It takes every connection, sends nothing and says that there was one.
const listener = `require("node:net")
    .createServer((socket) => { console.log("connection"); socket.on("error", () => {}); })
    .listen(4222, "127.0.0.1", () => console.log("listening"));`;
const server = Bun.spawn(
  ["setpriv", `--reuid=${unprivileged}`, `--regid=${unprivileged}`, "--clear-groups", process.execPath, "-e", listener],
  {
    ...{ cwd: "/", env: { PATH: process.env["PATH"]!, HOME: "/" }, stdin: "ignore", stdout: "pipe", stderr: "inherit" },
  },
);
let said = "";
const listening = (async () => {
  for await (const chunk of server.stdout) said += new TextDecoder().decode(chunk);
})();
const lines = (): string[] => said.trim().split("\n");

try {
  await until(() => said !== "", "the server of another user");
  await using world = await startWorld({ config: JSON.parse(process.argv.at(-1)!) as object });
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const sent = await world.tieline(["send", "--wait", "delivered", "ana", "TOP-SECRET"]);
  if (sent.code !== 0) throw new Error(sent.stderr);
  const configured = process.argv.at(-1)!.includes("nats://") && !process.argv.at(-1)!.includes("false");
  if (configured) await until(() => lines().length > 1, "a connection");
  const checks = await world.json<{ name: string; detail: string }[]>(["doctor"]);
  // Stopping publishes what is left.
  await world.tieline(["daemon", "stop"]);
  console.log(
    JSON.stringify({ connections: lines().length - 1, detail: checks.find(({ name }) => name === "nats")!.detail }),
  );
} finally {
  server.kill("SIGKILL");
  await Promise.all([server.exited, listening]);
}
