/** The demo: a private home, a private tmux server, three scripted agents, and what becomes of their messages. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import agent from "../../../examples/demo/agent.sh" with { type: "text" };
import team from "../../../examples/demo/tieline.yaml" with { type: "text" };
import { createClient } from "../../client/client.ts";
import { homeOf, type Home } from "../../client/home.ts";
import { streamEvents, type StreamedEvent } from "../../client/stream.ts";
import type { Caller, ReceiptView } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { callerOf } from "../daemon/connect.ts";
import { startDaemon } from "../daemon/start.ts";
import type { Terminal } from "../output/terminal.ts";
import { span } from "../input/times.ts";
import { systemTimers } from "../../os/timers.ts";

type Environment = Readonly<Record<string, string | undefined>>;

const tmuxName = "tieline-demo";
/** The whole play takes about three seconds; after this long something is wrong. */
const patienceMs = 18_000;

interface Stage {
  readonly env: Environment;
  readonly home: Home;
  readonly caller: Caller;
}

export async function runDemo(env: Environment, terminal: Terminal): Promise<number> {
  const { paint, print } = terminal;
  await takeDown(env);
  const stage = await setUp(env);
  const client = createClient({ socket: stage.home.socket }, stage.caller);
  const { digest } = await client.call("trustShow", {});
  await client.call("trust", { digest });
  const ended = new AbortController();
  using _late = systemTimers.after(patienceMs, () => ended.abort());
  let played = false;
  try {
    await print(paint("bold", "A team of three scripted agents: researcher → coder ⇄ reviewer. No model, no key."));
    const team = await client.call("up", { only: ["researcher", "coder"] });
    for (const { name, pane } of team.started) await print(`  ${paint("green", "●")} ${name} runs in pane ${pane}`);
    await print([`  ${paint("dim", "○ reviewer is not running; mail will start it")}`, ""]);

    // From the first event of this home on, so that none is missed between sending and listening.
    const events = streamEvents({ socket: stage.home.socket }, stage.caller, { after: 0 }, ended.signal);
    const known = new Set(team.started.map(({ name }) => name));
    const watching = narrate(events, known, client, terminal, ended);
    await client.call("send", { to: "researcher", body: "why do uploads fail on trains?" });
    const seen = await watching;
    if (!seen.finished) throw notFinished(stage.home);
    await summary(seen, terminal);
    await (terminal.interactive ? whatNext(team.attach, stage, terminal) : howToStay(team.attach, terminal));
    played = true;
    return 0;
  } finally {
    ended.abort();
    if (!terminal.interactive) await takeDown(env, { keepFiles: !played });
  }
}

export async function stopDemo(env: Environment, { print }: Terminal): Promise<number> {
  await print((await takeDown(env)) ? "the demo is taken down" : "no demo is running");
  return 0;
}

async function setUp(env: Environment): Promise<Stage> {
  const demoEnv = stageEnvironment(env);
  const home = homeOf(demoEnv);
  const project = join(home.root, "project");
  mkdirSync(project, { recursive: true, mode: 0o700 });
  writeFileSync(join(project, "tieline.yaml"), team);
  writeFileSync(join(project, "agent.sh"), agent, { mode: 0o700 });
  await startDaemon(home, demoEnv);
  return { env: demoEnv, home, caller: { ...(await callerOf(home, demoEnv)), cwd: project } };
}

/** Only what a program needs to run: a caller inside tmux or an agent is still just watching. */
function stageEnvironment(env: Environment): Environment {
  const { PATH, HOME, LANG, TERM, TMPDIR, TMUX_TMPDIR, SHELL } = env;
  const root = join(TMPDIR || tmpdir(), `tieline-demo-${process.getuid?.() ?? 0}`);
  return { PATH, HOME, LANG, TERM, TMPDIR, TMUX_TMPDIR, SHELL, TIELINE_HOME: root, TIELINE_TMUX_SOCKET: tmuxName };
}

/** The files of a demo that failed tell why. */
async function takeDown(env: Environment, { keepFiles = false } = {}): Promise<boolean> {
  const home = homeOf(stageEnvironment(env));
  const { end } = await import("./stage.ts");
  const ran = await end(home, stageEnvironment(env), tmuxName);
  if (!keepFiles) rmSync(home.root, { recursive: true, force: true });
  return ran;
}

interface Seen {
  readonly delivered: readonly number[];
  readonly refused: number;
  readonly finished: boolean;
}

/** Tells each thing as it happens, until the reviewer has reported to the user. */
async function narrate(
  events: AsyncIterable<StreamedEvent>,
  known: ReadonlySet<string>,
  client: ReturnType<typeof createClient>,
  { print, paint }: Terminal,
  ended: AbortController,
): Promise<Seen> {
  const delivered: number[] = [];
  let refused = 0;
  let finished = false;
  for await (const event of events) {
    switch (event.type) {
      case "message.accepted": {
        const { body } = await client.call("show", { tag: event.tag });
        await print(
          `${paint("cyan", event.from)} → ${paint("cyan", event.recipients.join(", "))}   ${body.split("\n")[0]}`,
        );
        if (event.to === "user") finished = true;
        break;
      }
      case "route.denied":
        refused++;
        await print(
          `  ${paint("red", "✗")} ${event.from} may not write to ${event.to}; allowed: ${event.allowed.join(", ")}`,
        );
        break;
      case "agent.changed":
        if (event.state === "starting" && !known.has(event.name))
          await print(`  ${paint("green", "●")} ${event.name} was offline; the message starts it`);
        break;
      case "delivery.delivered": {
        const receipt = await client.call("status", { tag: event.tag });
        delivered.push(tookMs(receipt, event.agentName));
        const how = `(${event.transport}, proof: ${event.proof})`;
        await print(
          `  ${paint("green", "✓")} ${event.tag} → ${event.agentName}   delivered after ` +
            `${span(delivered.at(-1)!)}   ${paint("dim", how)}`,
        );
        break;
      }
    }
    if (finished && delivered.length >= 4) break;
  }
  ended.abort();
  return { delivered, refused, finished };
}

function tookMs(receipt: ReceiptView, agent: string): number {
  const delivery = receipt.deliveries.find((one) => one.agent === agent)!;
  return delivery.updatedAt - receipt.acceptedAt;
}

async function summary({ delivered, refused }: Seen, { print, paint }: Terminal): Promise<void> {
  const text =
    `${delivered.length} messages delivered into panes, 1 waits for you, ${refused} refused with the reason, 1 ` +
    "agent started by its mail";
  await print(["", paint("bold", text)]);
}

async function whatNext(attach: string, { env, home }: Stage, { print, paint }: Terminal): Promise<void> {
  const tieline =
    `TIELINE_HOME=${home.root} TIELINE_TMUX_SOCKET=${String(env["TIELINE_TMUX_SOCKET"])} TIELINE_TEAM=demo ` +
    "bin/tieline";
  const lines = [
    "The team is still there. Look at it:",
    `  ${attach}`,
    "Talk to it:",
    `  alias tl='${tieline}'`,
    "  tl inbox                                  what the reviewer wrote to you",
    '  tl send --wait delivered coder "hello"       and see the receipt',
    "  tl ls                                     agents and their mail",
    "  tl log                                    everything that was said",
    "Your own project: bin/tieline init, then bin/tieline up.",
    "End the demo: bin/tieline demo --stop",
  ];
  await print(["", ...lines.map((line) => (line.startsWith("  ") ? line : paint("bold", line)))]);
}

/** The team is taken down, so it cannot be attached to; a run on a terminal keeps it. */
async function howToStay(attach: string, { print }: Terminal): Promise<void> {
  const lines = [
    "Without a terminal, the team is stopped now. On a terminal it stays: attach with",
    `  ${attach}`,
    "and write to it. In your own project: bin/tieline init, then bin/tieline up.",
  ];
  await print(["", ...lines]);
}

const notFinished = (home: Home): TielineError =>
  new TielineError("NOT_IN_TIME", "the demo did not come to its end", {
    remedy: `see ${home.log}`,
    operands: { log: home.log },
  });
