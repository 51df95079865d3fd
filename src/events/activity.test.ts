import { describe, expect, test } from "bun:test";
import { agentStates, type Agent } from "../model/agent.ts";
import type { Event, Fact } from "../model/event.ts";
import { agentId, type Tag } from "../model/ids.ts";
import { userAgent } from "../agents/directory/roster.ts";
import { Activities, activityStatuses, presenceOf } from "./activity.ts";

const ana: Agent = {
  ...userAgent,
  ...{
    id: agentId("a"),
    name: "ana",
    team: "web",
    kind: "program",
    provider: "generic",
    state: "working",
    lastActivityAt: 1_000,
  },
  endpoints: [
    { transport: "hook", locator: {} },
    { transport: "tmux", locator: { pane: "%3" } },
  ],
  launch: { task: "wish-42" },
};
const about = { agent: ana.id, name: "ana", team: "web" };
const at = (time: number, fact: Fact): Event => ({ ...fact, seq: time, at: time }) as Event;

function activities({ newestMailAt = null as number | null } = {}): Activities {
  return new Activities({
    named: (team, name) => (team === "web" && name === "ana" ? ana : null),
    newestMailAt: () => newestMailAt,
  });
}

describe("activity", () => {
  test("without any event it is what the directory knows", () => {
    expect(activities().of(ana)).toEqual({
      paneId: "%3",
      wishId: "wish-42",
      status: "running",
      lastEvent: null,
      lastActivityAt: 1_000,
      eventCount: 0,
    });
    expect(activities({ newestMailAt: 5_000 }).of(ana).lastActivityAt).toBe(5_000);
  });

  test("events are counted, and the last one is shown with its tool", () => {
    const all = activities();
    all.observe(at(2_000, { type: "user.prompt", ...about, prompt: "x" }));
    all.observe(at(3_000, { type: "tool.call", ...about, tool: "Bash", input: {} }));
    expect(all.of(ana)).toMatchObject({
      lastEvent: { type: "tool.call", toolName: "Bash", timestamp: 3_000 },
      lastActivityAt: 3_000,
      eventCount: 2,
    });
  });

  test("who writes is active, and who is removed is forgotten", () => {
    const all = activities();
    all.observe(
      at(2_000, {
        type: "message.accepted",
        id: "m" as never,
        tag: "MSG_ANA_00000001" as Tag,
        from: "ana",
        to: "bob",
        team: "web",
        recipients: ["bob"],
      }),
    );
    all.observe(at(2_000, { type: "route.denied", from: "stranger", to: "bob", team: "web", allowed: [] }));
    expect(all.of(ana)).toMatchObject({ eventCount: 1, lastActivityAt: 2_000 });
    all.observe(at(3_000, { type: "agent.removed", ...about }));
    expect(all.of(ana).eventCount).toBe(0);
  });

  test("a program that exited is stopped; a screen that cannot be read keeps the last status", () => {
    const all = activities();
    const reading = (state: Agent["state"]) => all.of({ ...ana, state }).status;
    expect([reading("done"), reading("gone"), reading("suspended")]).toEqual(["stopped", "stopped", "stopped"]);
    all.observe(at(2_000, { type: "agent.changed", ...about, state: "permission", reason: null }));
    all.observe(at(3_000, { type: "agent.changed", ...about, state: "unknown", reason: null }));
    expect(reading("unknown")).toBe("waiting");
  });

  test.each(agentStates.map((state) => [state] as const))("every state has a status: %s", (state) => {
    expect(activityStatuses).toContain(activities().of({ ...ana, state }).status);
  });
});

describe("presence", () => {
  const minute = 60_000;
  test.each([
    ["active", ana, 5 * minute - 1],
    ["idle", ana, 5 * minute],
    ["offline", { ...ana, state: "gone" }, 0],
    ["offline", { ...ana, state: "suspended" }, 0],
    ["offline", { ...ana, endpoints: [] }, 0],
    ["terminated", { ...ana, endpoints: [], state: "gone", shutDown: true }, 0],
    ["active", { ...ana, endpoints: [], state: "starting" }, 0],
    ["active", userAgent, 60 * minute],
  ] as const)("%s", (presence, agent, ageMs) => {
    expect(presenceOf(agent as Agent, 0, ageMs)).toBe(presence);
  });
});
