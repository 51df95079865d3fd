/**
 * `ls` with 1,000 agents in 1,000 panes, against what tmux alone takes to list the panes; and what so many panes at
 * rest cost while idle, here and in tmux. Targets: 50 ms, and nothing.
 */
import { join } from "node:path";
import { labelledScreens } from "../src/testing/screens.ts";
import { openStage, type Stage } from "../src/testing/stage.ts";
import { agentOperations } from "../src/api/operations/agents.ts";
import { bind } from "../src/api/operations/index.ts";
import { callersOf, rightsOf, viewPartsOf } from "../src/compose/api.ts";
import { locatorOf } from "../src/agents/adopt/adopt.ts";
import { listPanes } from "../src/tmux/pane.ts";
import { foreground } from "../src/os/processes.ts";
import { tmuxEndpoint } from "../src/delivery/transports/paneEndpoint.ts";

const agents = Number(process.env["AGENTS"] ?? 1_000);
const targetMs = 50;
const restMs = 5_000;

await using stage = await openStage();
await fill(stage, agents);
const { tieline } = stage;
const server = tieline.servers.at(stage.tmux.socketPath);
const { agents: known, storage, delivery, panes: shown } = stage.composition;
const operations = bind(agentOperations, {
  ...viewPartsOf(stage.composition),
  callers: callersOf(stage.composition, "token"),
  rights: rightsOf(stage.composition),
  ...{ mailbox: storage.mailbox, courier: delivery.courier, statusMonitor: shown.statusMonitor },
  ...{ directory: known.directory, native: known.native, resolve: known.ways.resolve },
});
const signal = new AbortController().signal;
const ls = async (): Promise<number> =>
  JSON.stringify(await operations.ls({ all: true }, { caller: { userToken: "token" }, signal, face: "socket" })).length;

const floor = await millisecondsOf(() => server.read([["list-panes", "-a", "-F", "#{pane_id}"]]), 20);
const first = await millisecondsOf(ls, 1);
const readFrom = performance.now();
while (told().has("unknown")) await Bun.sleep(5);
const all = first + performance.now() - readFrom;
await settled();
const next = await millisecondsOf(ls, 20);
const line = (what: string, took: number, target = ""): void =>
  console.log(`${what.padEnd(44)} ${took.toFixed(1)} ms  (${(took / floor).toFixed(1)} × floor${target})`);
const judged = (took: number): string => `; target ${targetMs} ms: ${took < targetMs ? "ok" : "TOO SLOW"}`;
console.log(`${agents} agents: ${[...told()].map(([state, count]) => `${count} ${state}`).join(", ")}`);
console.log(`${"floor: tmux lists the panes".padEnd(44)} ${floor.toFixed(1)} ms`);
line("ls for the first time, no screen known", first, judged(first));
line("until every screen was read behind it", all);
line("ls, nothing changed", next, judged(next));

const tmuxBefore = await tmuxTicks();
Bun.gc(true);
await Bun.sleep(1_000);
const before = process.cpuUsage();
await Bun.sleep(restMs);
const { user, system } = process.cpuUsage(before);
const share = (user + system) / 1000 / restMs;
const tmuxShare = (((await tmuxTicks()) - tmuxBefore) * 10) / restMs;
console.log(`idle: daemon ${(share * 100).toFixed(2)} % of a core, tmux ${(tmuxShare * 100).toFixed(2)} %`);

async function fill(stage: Stage, count: number): Promise<void> {
  const { screen } = labelledScreens().find(
    ({ provider, state, draft, screen: { width } }) =>
      provider === "claude-code" && state === "idle" && !draft && width === 100,
  )!;
  const picture = join(stage.tmux.dir, "picture");
  await Bun.write(
    picture,
    `\x1b]2;${screen.title}\x07\x1b[H${screen.lines.join("\r\n")}\x1b[${screen.cursor!.y + 1};${screen.cursor!.x + 1}H`,
  );
  const command = ["bash", "-c", `stty raw -echo; cat ${picture}; exec -a claude sleep 1d`];
  const { tieline } = stage;
  const server = tieline.servers.at(stage.tmux.socketPath);
  for (let n = 0; n < count; n++) await server.run([["new-window", "-d", "--", ...command]]);
  await Bun.sleep(3_000);
  const panes = (await listPanes(server)).slice(1);
  for (const [n, pane] of panes.entries()) {
    const program = await foreground(tieline.processes, pane.pid);
    if (program)
      tieline.directory.register({
        name: `agent${n}`,
        team: "default",
        provider: "claude-code",
        endpoints: [tmuxEndpoint.make(locatorOf(server, pane, program, {}))],
      });
  }
}

function told(): Map<string, number> {
  const states = Map.groupBy(tieline.directory.agents(), ({ state }) => state);
  return new Map([...states].map(([state, members]) => [state, members.length]));
}

/** What was read within the second of the last output is read once more. */
async function settled(): Promise<void> {
  await Bun.sleep(1_100);
  const asked = () => tieline.statusMonitor.refresh(tieline.directory.agents());
  while ((await asked()).unread.size > 0) await Bun.sleep(50);
}

/** The processor time of the tmux server so far, in hundredths of a second. */
async function tmuxTicks(): Promise<number> {
  const { pid } = await server.identity();
  const stat = await Bun.file(`/proc/${pid}/stat`).text();
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(fields[11]) + Number(fields[12]);
}

async function millisecondsOf(run: () => Promise<unknown>, rounds: number): Promise<number> {
  const start = performance.now();
  for (let round = 0; round < rounds; round++) await run();
  return (performance.now() - start) / rounds;
}
