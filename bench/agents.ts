/**
 * Real programs at rest: from a send to the request at their model server, against the same done by hand; what a hook
 * costs that finds no mail; and how long `tieline send --wait seen` takes. One run, all of them in turns, so that
 * whatever else the machine does meets all alike.
 *
 *     scripts/bench agents        or with a number of rounds: bun bench/agents.ts 40
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { freshHas } from "../fixtures/model-servers/server.ts";
import { homeOf } from "../src/client/home.ts";
import { writeToInbox } from "../src/providers/claude-code/inboxSocket.ts";
import { connectAppServer } from "../src/providers/codex/appServer.ts";
import type { Bench } from "../test/agents/bench.ts";
import { installAgent } from "../test/agents/install.ts";
import { Switchboard } from "../test/agents/switchboard.ts";
import { until } from "../test/agents/until.ts";
import { median, quantile } from "./support/measure.ts";

type Run = () => Promise<number>;

interface Comparison {
  readonly what: string;
  readonly ours: Run;
  /** The same by hand. */
  readonly floor: Run;
  readonly target: { readonly ratio: number } | { readonly addedMs: number } | { readonly ms: number };
}

const rounds = Number(process.argv[2] ?? 15);
const unguarded = { guards: { perPairPerMinute: 1e6, perSenderPerMinute: 1e6 } };

for (const program of ["claude-code", "codex"] as const) {
  const installed = await installAgent(program);
  if ("missing" in installed)
    throw new Error(`SKIPPED: ${program} ${installed.version} cannot be installed here: ${installed.missing}`);
}

await using claudeBoard = await Switchboard.start(unguarded);
await using claude = await claudeBoard.claude();
await using codexBoard = await Switchboard.start(unguarded);
await using codex = await codexBoard.codex({ permissions: "allow" });
await using app = await connectAppServer(await appServerOf(codexBoard));

const sends = await measured([...(await claudeCode(claudeBoard, claude)), ...(await codexThread(codexBoard, codex))]);
// Afterwards, because each of these calls says that the agent is at work.
print([...sends, ...(await measured(await hooks(claudeBoard, claude), 200))]);

async function claudeCode(board: Switchboard, bench: Bench): Promise<Comparison[]> {
  const bob = await board.another("bob");
  const socket = rested(bench, async (text) =>
    writeToInbox((await bench.registry())!.messagingSocketPath!, { text, messageId: crypto.randomUUID() }),
  );
  const paste = rested(bench, async (text) => {
    await bench.paste(text);
    await bench.tmux("send-keys", "-t", bench.pane, "Enter");
  });
  const seen = (token: string | null): Run => {
    const send = async (text: string) => {
      const { code, stderr } = await board.tieline(
        ["send", "ana", "--wait", "seen", text],
        token === null ? {} : { TIELINE_TOKEN: token },
      );
      if (code !== 0) throw new Error(stderr);
    };
    return rested(bench, send, { untilSent: true });
  };
  return [
    {
      what: "Claude Code, from an agent | its socket by hand",
      ours: rested(bench, (text) => board.client(bob).call("send", { to: "ana", body: text })),
      floor: socket,
      target: { ratio: 1.5 },
    },
    {
      what: "Claude Code, from a user | paste and Enter by hand",
      ours: rested(bench, (text) => board.client().call("send", { to: "ana", body: text })),
      floor: paste,
      target: { ratio: 1.5 },
    },
    {
      what: "send --wait seen, from an agent | its socket by hand",
      ours: seen(bob),
      floor: socket,
      target: { ms: 300 },
    },
    {
      what: "send --wait seen, from a user | paste and Enter by hand",
      ours: seen(null),
      floor: paste,
      target: { ms: 300 },
    },
  ];
}

async function codexThread(board: Switchboard, bench: Bench): Promise<Comparison[]> {
  const bob = await board.bobsToken();
  const { data } = await app.request<{ data: string[] }>("thread/loaded/list", {});
  const byHand = rested(bench, (text) =>
    app.request("turn/start", { threadId: data[0], input: [{ type: "text", text, text_elements: [] }] }),
  );
  return [
    {
      what: "Codex, from an agent | turn/start by hand",
      ours: rested(bench, (text) => board.client(bob).call("send", { to: "ana", body: text })),
      floor: byHand,
      target: { ratio: 1.5 },
    },
    {
      what: "Codex, from a user | turn/start by hand",
      ours: rested(bench, (text) => board.client().call("send", { to: "ana", body: text })),
      floor: byHand,
      target: { ratio: 1.5 },
    },
  ];
}

/** One call each, as the program makes it, against one that does nothing at all. */
async function hooks(board: Switchboard, bench: Bench): Promise<Comparison[]> {
  const { sessionId, cwd } = (await bench.registry())!;
  const payload = JSON.stringify({
    session_id: sessionId,
    cwd,
    hook_event_name: "PostToolUse",
    tool_name: "Bash",
    tool_input: { command: "ls" },
    tool_response: { stdout: "x".repeat(2_000) },
    tool_use_id: "toolu_1",
  });
  const run = (...command: string[]): Run =>
    timed(async () => {
      const child = Bun.spawn(command, {
        env: { ...bench.env, CLAUDE_CODE_SESSION_ID: sessionId },
        stdin: new Blob([payload]),
        stdout: "ignore",
        stderr: "ignore",
      });
      if ((await child.exited) !== 0) throw new Error(`${command.join(" ")} failed`);
    });
  return [
    {
      what: "a hook without mail | sh that does nothing",
      ours: run(join(board.home, "hooks", "hook"), "claude-code", "PostToolUse"),
      floor: run("sh", "-c", "cat >/dev/null"),
      target: { addedMs: 5 },
    },
  ];
}

/** A run that begins when the program has come to rest, and ends when its model is asked, or when the send returns. */
function rested(bench: Bench, send: (text: string) => Promise<unknown>, { untilSent = false } = {}): Run {
  return async () => {
    await rest(bench);
    const text = `round ${bench.model.requests.length} of the benchmark`;
    const asked = bench.model.next((request) => freshHas(request, text));
    const from = performance.now();
    const both = [asked.then(() => performance.now() - from), send(text).then(() => performance.now() - from)] as const;
    const [askedMs, sentMs] = await Promise.all(both);
    return untilSent ? sentMs : askedMs;
  };
}

/** Nothing announces that a program has finished what follows a turn. */
async function rest(bench: Bench): Promise<void> {
  if (bench.program === "claude-code") await bench.untilStatus("idle");
  else await bench.waitForScreen((screen) => bench.recipe.ready(screen) && !screen.text.includes("esc to interrupt"));
  await Bun.sleep(400);
}

function timed(run: () => Promise<void>): Run {
  return async () => {
    const from = performance.now();
    await run();
    return performance.now() - from;
  };
}

interface Measured extends Comparison {
  readonly times: { readonly ours: number[]; readonly floor: number[] };
}

/** The first round warms up and does not count. */
async function measured(all: readonly Comparison[], count = rounds): Promise<Measured[]> {
  const results = all.map((one) => ({ ...one, times: { ours: [] as number[], floor: [] as number[] } }));
  for (let round = -1; round < count; round++) {
    for (const { times, ...runs } of results) {
      for (const side of round % 2 === 0 ? (["ours", "floor"] as const) : (["floor", "ours"] as const)) {
        const ms = await runs[side]();
        if (round >= 0) times[side].push(ms);
      }
    }
  }
  return results;
}

function print(results: readonly Measured[]): void {
  const cells = results.map(({ what, times, target }) => {
    const [ours, floor] = [median(times.ours), median(times.floor)];
    const [value, limit] =
      "ratio" in target
        ? [ours / floor, target.ratio]
        : "addedMs" in target
          ? [ours - floor, target.addedMs]
          : [ours, target.ms];
    const said = "ratio" in target ? `≤ ${limit} ×` : "addedMs" in target ? `≤ +${limit} ms` : `about ${limit} ms`;
    return [
      what,
      ms(floor),
      ms(ours),
      ms(quantile(times.ours, 0.9)),
      `${(ours / floor).toFixed(2)} ×`,
      `${ours < floor ? "−" : "+"}${ms(Math.abs(ours - floor))}`,
      said,
      value <= limit ? "within" : "OVER",
    ];
  });
  const rows = [["what | floor", "floor", "ours", "p90", "ratio", "added", "target", ""], ...cells];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  for (const row of rows)
    console.log(
      row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!))).join("  "),
    );
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`;
}

/** The socket of the app server that Tieline started for `ana`. */
async function appServerOf(board: Switchboard): Promise<string> {
  const { id } = (await board.json<{ id: string; name: string }[]>("ls")).find(({ name }) => name === "ana")!;
  const socket = join(homeOf({ TIELINE_HOME: board.home }).sockets, `${id}.sock`);
  await until(() => existsSync(socket), { what: async () => `${socket} is there` });
  return socket;
}
