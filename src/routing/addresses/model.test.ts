import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { IndexedRoster } from "../../agents/directory/roster.ts";
import { type Agent, canStart, isLive } from "../../model/agent.ts";
import { anAgent, offline, paneEndpoint, suspended } from "../../testing/agents.ts";
import { aProfile } from "../../testing/profiles.ts";
import { openTopology } from "../topology/topology.ts";
import { explain } from "./resolve.ts";
import type { Lookups } from "./rules.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

const word = fc.constantFrom("a", "b", "c", "a-2");
const place = fc.constantFrom("web", "api");
const condition = fc.constantFrom({}, offline, suspended);
const anyAgent = fc
  .record({
    name: word,
    team: place,
    role: fc.option(word),
    profile: fc.option(word),
    condition,
    pane: fc.integer({ min: 1, max: 3 }),
  })
  .map(({ condition: state, pane, ...fields }) =>
    anAgent({ ...fields, endpoints: [paneEndpoint(`%${pane}`)], ...state }),
  );
const agents = fc.uniqueArray(anyAgent, { selector: (agent) => agent.id, maxLength: 8 });

describe("the resolver against a naive model", () => {
  test("agrees on every name, prefixed or not", () => {
    fc.assert(
      fc.property(agents, fc.subarray(["a", "b"]), word, fc.option(place), (all, profiles, wanted, prefix) => {
        const asker = anAgent({ name: "asker" });
        const text = prefix === null ? wanted : `${prefix}:${wanted}`;
        const { resolution, error } = explain(text, asker, lookupsFor(all, profiles));
        const answer: string | string[] = error
          ? error.code
          : [
              ...resolution!.agents.map(({ id }) => id),
              ...resolution!.startable.map(({ name: start }) => `start ${start}`),
            ];
        expect(answer).toEqual(naive(all, profiles, wanted, prefix ?? "web"));
      }),
      { numRuns: 2000 },
    );
  });
});

function lookupsFor(all: readonly Agent[], profiles: readonly string[]): Lookups {
  const roster = new IndexedRoster();
  for (const agent of all) roster.put(agent);
  return {
    roster,
    profile: (_, wanted) => (profiles.includes(wanted) ? aProfile({ name: wanted, origin: "user" }) : null),
    profileNames: () => profiles,
    topology: openTopology,
    alias: () => null,
    aliasNames: () => [],
  };
}

/** The rules once more, as filters over a list: a held name wins; else labels, live before offline. */
function naive(all: readonly Agent[], profiles: readonly string[], wanted: string, inTeam: string): string[] | string {
  const members = all.filter((agent) => agent.team === inTeam);
  const held = members.filter((agent) => agent.name === wanted);
  if (held.length > 0) return [held[0]!.id];
  const ours = inTeam === "web";
  const started = members.filter((agent) => agent.profile === wanted && !agent.name.startsWith(`${wanted}-`));
  const groups = [
    ours && profiles.includes(wanted) ? started.filter(isLive) : [],
    members.filter((agent) => agent.role === wanted && isLive(agent)),
    started.filter(canStart),
  ];
  const found = groups.find((group) => group.length > 0);
  if (found) return found.length === 1 ? [found[0]!.id] : "ADDRESS_AMBIGUOUS";
  if (ours && profiles.includes(wanted)) return [`start ${wanted}`];
  const holders = members.filter((agent) => agent.role === wanted && canStart(agent));
  if (holders.length === 0) return "ADDRESS_UNKNOWN";
  return holders.length === 1 ? [holders[0]!.id] : "ADDRESS_AMBIGUOUS";
}

describe("the roster against a naive model", () => {
  test("every index follows any sequence of changes", () => {
    const change = fc.oneof(
      { weight: 3, arbitrary: fc.record({ put: anyAgent }) },
      { weight: 1, arbitrary: fc.record({ remove: anyAgent }) },
    );
    fc.assert(
      fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
        const roster = new IndexedRoster();
        const model = new Map<string, Agent>();
        for (const step of changes) {
          if ("put" in step) {
            roster.put(step.put);
            model.set(step.put.id, step.put);
          } else {
            roster.remove(step.remove.id);
            model.delete(step.remove.id);
          }
        }
        const every = [...model.values()];
        const ids = (list: Iterable<Agent>) => [...list].map(({ id }) => id).toSorted();
        expect(ids(roster.all())).toEqual(ids(every));
        expect(roster.teams().toSorted()).toEqual([...new Set(every.map((agent) => agent.team))].toSorted());
        for (const at of ["web", "api"]) {
          expect(ids(roster.inTeam(at))).toEqual(ids(every.filter((agent) => agent.team === at)));
          for (const key of ["a", "b", "c", "a-2"]) {
            const members = every.filter((agent) => agent.team === at);
            expect(roster.named(at, key)).toEqual(members.find((agent) => agent.name === key) ?? null);
            expect(ids(roster.withRole(at, key))).toEqual(ids(members.filter((agent) => agent.role === key)));
            expect(ids(roster.ofProfile(at, key))).toEqual(ids(members.filter((agent) => agent.profile === key)));
          }
        }
        for (const pane of ["%1", "%2", "%3"]) {
          expect(ids(roster.byPane(pane))).toEqual(
            ids(every.filter((agent) => tmuxEndpoint.of(agent)?.locator.pane === pane)),
          );
        }
      }),
    );
  });

  test("a name is held by one agent; a state change keeps an agent's place", () => {
    const roster = new IndexedRoster();
    roster.put(anAgent({ name: "a", id: "1" }));
    roster.put(anAgent({ name: "b", id: "2" }));
    expect(() => roster.put(anAgent({ name: "a", id: "3" }))).toThrow("already has an agent named a");
    roster.put(anAgent({ name: "a", id: "1", state: "working" }));
    expect(roster.inTeam("web").map((agent) => [agent.name, agent.state])).toEqual([
      ["a", "working"],
      ["b", "idle"],
    ]);
    roster.put(anAgent({ name: "z", id: "1" }));
    expect(roster.named("web", "a")).toBeNull();
  });
});
