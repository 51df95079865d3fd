/**
 * What one hook call costs an agent program, as a multiple of a shell that does nothing, in one run: without mail, with
 * a message that is delivered by it, and with a payload as large as a file.
 *
 *     scripts/bench hooks         or with a number of rounds: bun bench/hooks.ts 200
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { callerOf } from "../src/cli/daemon/connect.ts";
import { until } from "../src/testing/until.ts";
import { startWorld } from "../src/testing/world.ts";
import { median, ms, quantile } from "./support/measure.ts";

const rounds = Number(process.argv[2] ?? 100);
const session = "bench-session";

await using world = await startWorld({
  config: { delivery: { copyMode: "hold" }, guards: { perPairPerMinute: 1e6, perSenderPerMinute: 1e6 } },
});
const pane = await world.pane(["cat"]);
await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
const tmuxSocket = (await world.tmux("display-message", "-p", "#{socket_path}")).trim();
const env = { ...world.env, TMUX: `${tmuxSocket},1,0`, TMUX_PANE: pane, CLAUDE_CODE_SESSION_ID: session };
const home = homeOf(world.env);
const client = createClient({ socket: home.socket }, { ...(await callerOf(home, world.env)), cwd: world.project });
const hookProgram = join(home.root, "hooks", "hook");

const payload = (event: string, bytes = 2_000): string =>
  JSON.stringify({
    session_id: session,
    cwd: world.project,
    hook_event_name: event,
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_response: { stdout: "x".repeat(bytes) },
    tool_use_id: "toolu_1",
  });

/** As agent programs run a hook: a shell with the command line, and the payload on its stdin. */
async function run(line: string, stdin: string): Promise<string> {
  const child = Bun.spawn(["sh", "-c", line], { env, stdin: new Blob([stdin]), stdout: "pipe", stderr: "ignore" });
  const stdout = await new Response(child.stdout).text();
  if ((await child.exited) !== 0) throw new Error(`${line} failed`);
  return stdout;
}
const hook = (event: string, bytes?: number): Promise<string> =>
  run(`${hookProgram} claude-code ${event}`, payload(event, bytes));

await hook("SessionStart");
await until(async () => (await world.ls())[0]?.sessionId === session, "the session to be known");
// Nothing is typed in copy mode, so that only the hook can take the mail.
await world.tmux("copy-mode", "-t", pane);

/** The events at which hooks have to ask. */
function flag(): string {
  try {
    return readFileSync(join(home.root, "hooks", "mail", session), "utf8");
  } catch {
    return "";
  }
}

async function withMail(call: () => Promise<string>): Promise<number> {
  const { tag } = await client.call("send", { to: "ana", body: "stop", when: "interrupt" });
  await until(() => flag().includes("PreToolUse"), "the flag");
  const from = performance.now();
  if (!(await call()).includes(tag)) throw new Error("the mail was not in the answer");
  const took = performance.now() - from;
  await until(async () => (await client.call("status", { tag })).deliveries[0]!.state === "delivered", "the receipt");
  await hook("PostToolBatch");
  await hook("PreToolUse");
  return took;
}

const timed = (call: () => Promise<string>) => async (): Promise<number> => {
  const from = performance.now();
  await call();
  return performance.now() - from;
};

const candidates: Record<string, () => Promise<number>> = {
  "sh -c :": timed(() => run(":", payload("PostToolUse"))),
  "PostToolUse, no mail": timed(() => hook("PostToolUse")),
  "PostToolUse of Codex, no mail": timed(() => run(`${hookProgram} codex PostToolUse`, payload("PostToolUse"))),
  "PreToolUse, no mail": timed(() => hook("PreToolUse")),
  "PostToolUse of 300 KB, no mail": timed(() => hook("PostToolUse", 300_000)),
  "PreToolUse of 300 KB, no mail": timed(() => hook("PreToolUse", 300_000)),
};
const floor = "sh -c :";
await measure(candidates);
await measure({
  [floor]: candidates[floor]!,
  "PreToolUse with an urgent message": () => withMail(() => hook("PreToolUse")),
});

/** In turns, so that whatever else the machine does meets all alike. The first rounds warm up. */
async function measure(all: Record<string, () => Promise<number>>): Promise<void> {
  const times = new Map(Object.keys(all).map((name) => [name, [] as number[]]));
  for (let round = -3; round < rounds; round++) {
    for (const [name, candidate] of Object.entries(all)) {
      const took = await candidate();
      if (round >= 0) times.get(name)!.push(took);
    }
  }
  const least = median(times.get(floor)!);
  for (const [name, each] of times)
    console.log(
      `${name.padEnd(36)} ${ms(median(each)).padStart(9)}  p90 ${ms(quantile(each, 0.9)).padStart(9)}  ` +
        `${(median(each) / least).toFixed(1)} × ${floor}`,
    );
}
