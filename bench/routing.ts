/**
 * Resolve and permit, with 10,000 agents and 100,000 edges, against two map lookups as the floor, and against the
 * same with ten agents. The target is 50 µs.
 */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolve } from "../src/routing/addresses/resolve.ts";
import type { Lookups } from "../src/routing/addresses/rules.ts";
import { Projects } from "../src/config/projects.ts";
import { lookupsOver } from "../src/agents/directory/lookups.ts";
import { Profiles } from "../src/agents/profiles/profiles.ts";
import { IndexedRoster } from "../src/agents/directory/roster.ts";
import type { Agent } from "../src/model/agent.ts";
import { anAgent, paneEndpoint } from "../src/testing/agents.ts";
import { type Edge, parseEdge } from "../src/routing/topology/edge.ts";
import { permit, topologyOf } from "../src/routing/topology/topology.ts";

const rounds = 200_000;
const targetMicroseconds = 50;

function town(
  agents: number,
  edgesEach: number,
): { lookups: Lookups; names: string[]; route: (from: Agent, to: string) => boolean } {
  const roster = new IndexedRoster();
  const names = Array.from({ length: agents }, (_, index) => `agent${index}`);
  names.forEach((name, index) =>
    roster.put(anAgent({ name, role: `role${index}`, endpoints: [paneEndpoint(`%${index}`)] })),
  );
  const edges: Edge[] = names.flatMap((from, index) =>
    Array.from({ length: edgesEach }, (_, step) =>
      parseEdge(`${from} -> ${names[(index + step + 1) % agents]}`, "web"),
    ).flat(),
  );
  const topology = topologyOf({ team: "web", edges, declared: names });
  const lookups: Lookups = {
    roster,
    profile: () => null,
    profileNames: () => [],
    topology: () => topology,
    alias: () => null,
    aliasNames: () => [],
  };
  const route = (from: Agent, to: string) =>
    permit(topology, from, resolve(to, from, lookups).agents).permitted.length === 1;
  return { lookups, names, route };
}

function microsecondsPer(run: (round: number) => boolean): number {
  for (let round = 0; round < rounds / 10; round++) run(round);
  const start = performance.now();
  let reached = 0;
  for (let round = 0; round < rounds; round++) if (run(round)) reached++;
  const each = ((performance.now() - start) * 1000) / rounds;
  if (reached !== rounds) throw new Error(`${rounds - reached} of ${rounds} routes were refused`);
  return each;
}

function measure(agents: number, edgesEach: number, address: (index: number) => string): number {
  const { lookups, names, route } = town(agents, edgesEach);
  const members = names.map((name) => lookups.roster.named("web", name)!);
  return microsecondsPer((round) => route(members[round % agents]!, address((round + 1) % agents)));
}

function floor(agents: number): number {
  const { lookups, names } = town(agents, 1);
  const edges = new Set(names);
  return microsecondsPer((round) => {
    const name = `agent${round % agents}`;
    return lookups.roster.named("web", name) !== null && edges.has(name);
  });
}

const base = floor(10_000);
console.log(`floor: two map lookups                     ${base.toFixed(2)} µs`);
for (const [what, address] of [
  ["name", (n: number) => `agent${n}`],
  ["role", (n: number) => `role${n}`],
  ["pane", (n: number) => `%${n}`],
] as const) {
  const small = measure(10, 5, address);
  const large = measure(10_000, 10, address);
  const verdict = large < targetMicroseconds ? "ok" : "TOO SLOW";
  console.log(
    `resolve + permit by ${what}, 10,000 agents, 100,000 edges  ${large.toFixed(2)} µs  ` +
      `(${(large / base).toFixed(1)} × floor, ${(large / small).toFixed(1)} × ten agents; target ` +
      `${targetMicroseconds} µs: ${verdict})`,
  );
}

/** The same through the real directory, which looks at the project's and the user's files for every address. */
function withFiles(agents: number): number {
  const root = mkdtempSync(join(tmpdir(), "tl-routing-"));
  const file = join(root, "tieline.yaml");
  mkdirSync(join(root, ".tieline", "agents"), { recursive: true });
  const { lookups, names } = town(agents, 1);
  writeFileSync(
    file,
    `team: web\ntopology:\n${names.map((name, index) => `  - ${name} -> ${names[(index + 1) % agents]}\n`).join("")}`,
  );
  const projects = new Projects();
  const real = lookupsOver({
    roster: lookups.roster,
    profiles: new Profiles(join(root, "agents")),
    projectOf: () => projects.load(file),
  });
  const members = names.map((name) => real.roster.named("web", name)!);
  const each = microsecondsPer((round) => {
    const from = members[round % agents]!;
    const { agents: found } = resolve(names[(round + 1) % agents]!, from, real);
    return permit(real.topology("web"), from, found).permitted.length === 1;
  });
  rmSync(root, { recursive: true });
  return each;
}

const files = withFiles(10_000);
console.log(
  `the same with profiles looked up on disk   ${files.toFixed(2)} µs  (${(files / base).toFixed(1)} × floor; ` +
    `target ${targetMicroseconds} µs: ${files < targetMicroseconds ? "ok" : "TOO SLOW"})`,
);
