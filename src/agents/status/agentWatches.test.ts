import { expect, test } from "bun:test";
import type { Agent } from "../../model/agent.ts";
import type { Event } from "../../model/event.ts";
import { anAgent, offline, paneEndpoint } from "../../testing/agents.ts";
import { AgentWatches } from "./agentWatches.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

/** Agents that a test changes, and what is watched of them at each moment. */
function world(...agents: Agent[]) {
  const watched: string[] = [];
  const listeners = new Set<(event: Event) => void>();
  const attendance = new AgentWatches({
    directory: { agent: (id) => agents.find((agent) => agent.id === id) ?? null, agents: () => agents },
    onEvent: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    placeOf: ({ endpoints }) => tmuxEndpoint.of({ endpoints })?.locator.pane ?? null,
    watch: ({ name, endpoints }) => {
      const watch = `${name} at ${tmuxEndpoint.of({ endpoints })!.locator.pane}`;
      watched.push(watch);
      return { [Symbol.dispose]: () => void watched.splice(watched.indexOf(watch), 1) };
    },
  });
  const tell = (type: "agent.registered" | "agent.changed" | "agent.removed", agent: Agent): void => {
    for (const listener of listeners) listener({ type, agent: agent.id } as Event);
  };
  return { attendance, watched, tell, agents, listeners };
}

test("agents that live and have a place are watched, once each", () => {
  const ana = anAgent({ name: "ana", endpoints: [paneEndpoint("%1")] });
  const { attendance, watched, tell } = world(
    ana,
    anAgent({ name: "bob", ...offline }),
    anAgent({ name: "eve", endpoints: [{ transport: "pull", locator: {} }] }),
  );
  attendance.start();
  tell("agent.changed", ana);
  expect(watched).toEqual(["ana at %1"]);
});

test("who comes is watched, who moves is watched there, who goes is not watched any more", () => {
  const { attendance, watched, tell, agents } = world();
  attendance.start();
  const ana = anAgent({ name: "ana", endpoints: [paneEndpoint("%1")] });
  agents.push(ana);
  tell("agent.registered", ana);
  expect(watched).toEqual(["ana at %1"]);
  agents[0] = { ...ana, endpoints: [paneEndpoint("%2")] };
  tell("agent.changed", ana);
  expect(watched).toEqual(["ana at %2"]);
  agents[0] = { ...ana, ...offline };
  tell("agent.changed", ana);
  expect(watched).toEqual([]);
  agents[0] = ana;
  tell("agent.changed", ana);
  agents.pop();
  tell("agent.removed", ana);
  expect(watched).toEqual([]);
});

test("at the end nothing is watched and no client is left", () => {
  const { attendance, watched, listeners } = world(anAgent({ name: "ana", endpoints: [paneEndpoint("%1")] }));
  attendance.start();
  attendance[Symbol.dispose]();
  expect(watched).toEqual([]);
  expect(listeners.size).toBe(0);
});
