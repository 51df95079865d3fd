import { expect, test } from "bun:test";
import { userId } from "../model/agent.ts";
import { agentId } from "../model/ids.ts";
import { seal, type When } from "../model/message.ts";
import { anAgent } from "../testing/agents.ts";
import type { Transport } from "./transports/port.ts";
import { selectEndpoints } from "./transportSelection.ts";

const authorities: Record<string, "user" | "peer"> = {
  tmux: "user",
  "claude-socket": "peer",
  hook: "peer",
  object: "peer",
};
const transportOf = (name: string) =>
  ({ name, traits: { bestProof: "screen", authority: authorities[name]! } }) as unknown as Transport;
const claude = anAgent({
  name: "ana",
  endpoints: ["tmux", "claude-socket", "hook"].map((transport) => ({ transport, locator: {} })),
});

function ways(sender: "user" | "agent", when: When): string[] {
  const id = sender === "user" ? userId : agentId("web/bob");
  const message = seal(
    { to: "ana", body: "x", when },
    { id, name: "x", team: "web", knownBy: "token" },
    { inReplyTo: null, hops: 1 },
  );
  return selectEndpoints(claude, message, transportOf).map(
    ({ endpoint, lastResort }) => endpoint.transport + (lastResort ? ", if nothing else is left" : ""),
  );
}

test("a user's message is typed at idle and goes by the socket in a turn", () => {
  expect(ways("user", "turn")).toEqual(["tmux", "claude-socket", "hook"]);
  expect(ways("user", "tool")).toEqual(["claude-socket", "hook", "tmux"]);
  expect(ways("user", "interrupt")).toEqual(["claude-socket", "hook", "tmux"]);
});

test("an agent's message goes where it counts as a peer's word, and is typed only as a last resort", () => {
  for (const when of ["turn", "tool", "interrupt"] as const)
    expect(ways("agent", when)).toEqual(["claude-socket", "hook", "tmux, if nothing else is left"]);
});
