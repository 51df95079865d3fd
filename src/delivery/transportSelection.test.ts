import { expect, test } from "bun:test";
import { userId } from "../model/agent.ts";
import { agentId } from "../model/ids.ts";
import { seal, type Kind, type When } from "../model/message.ts";
import { anAgent } from "../testing/agents.ts";
import { lowestRank, type Transport } from "./transports/port.ts";
import { selectEndpoints } from "./transportSelection.ts";

const traits: Readonly<Record<string, Transport["traits"]>> = {
  tmux: {
    bestProof: "screen",
    authority: "user",
    rank: { atTurnEnd: 1, inTurn: 3, fromAgent: 3 },
    input: "terminal",
  },
  "claude-socket": {
    bestProof: "transcript",
    authority: "peer",
    rank: { atTurnEnd: 2, inTurn: 1, fromAgent: 1 },
  },
  hook: { bestProof: "transcript", authority: "peer", rank: { atTurnEnd: 3, inTurn: 2, fromAgent: 2 }, fetched: true },
  inbox: { bestProof: "written", authority: "peer", rank: lowestRank, protocol: true },
  files: { bestProof: "written", authority: "peer", rank: lowestRank, exclusive: true },
  both: { bestProof: "screen", authority: "user", rank: lowestRank, combined: true },
  stream: { bestProof: "written", authority: "user", rank: lowestRank, input: "stream" },
};
const transportOf = (name: string) => ({ traits: traits[name]! });
const withEndpoints = (...transports: string[]) =>
  anAgent({ name: "ana", endpoints: transports.map((transport) => ({ transport, locator: {} })) });
const claude = withEndpoints("tmux", "claude-socket", "hook");

function selected(sender: "user" | "agent", when: When, agent = claude, kind: Kind = "text"): string[] {
  const id = sender === "user" ? userId : agentId("web/bob");
  const message = seal(
    { to: "ana", body: "x", when, kind },
    { id, name: "x", team: "web", knownBy: "token" },
    { inReplyTo: null, hops: 1 },
  );
  return selectEndpoints(agent, message, transportOf).map(
    ({ endpoint, lastResort }) => endpoint.transport + (lastResort ? ", if nothing else is left" : ""),
  );
}

test("a user's message is typed at idle and goes by the socket in a turn", () => {
  expect(selected("user", "turn")).toEqual(["tmux", "claude-socket", "hook"]);
  expect(selected("user", "tool")).toEqual(["claude-socket", "hook", "tmux"]);
  expect(selected("user", "interrupt")).toEqual(["claude-socket", "hook", "tmux"]);
});

test("an agent's message goes where it counts as a peer's words, and is typed only as a last resort", () => {
  for (const when of ["turn", "tool", "interrupt"] as const)
    expect(selected("agent", when)).toEqual(["claude-socket", "hook", "tmux, if nothing else is left"]);
});

test("an exclusive endpoint takes all mail", () => {
  for (const when of ["turn", "interrupt"] as const)
    expect(selected("agent", when, withEndpoints("tmux", "hook", "files"))).toEqual(["files"]);
});

test("protocol messages go where programs read them", () => {
  const member = withEndpoints("tmux", "inbox");
  expect(selected("agent", "turn", member, "shutdown_request")).toEqual(["inbox"]);
  expect(selected("agent", "turn", claude, "shutdown_request")).toHaveLength(3);
});

test("a combined endpoint takes mail that waits for the end of a turn, and no other", () => {
  const member = withEndpoints("tmux", "inbox", "both");
  expect(selected("user", "turn", member)).toEqual(["both"]);
  expect(selected("user", "tool", member)).not.toContain("both");
});

test("a program that reads a stream is not written to in its terminal", () => {
  expect(selected("user", "turn", withEndpoints("tmux", "stream"))).toEqual(["stream"]);
});
