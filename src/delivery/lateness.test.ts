import { expect, test } from "bun:test";
import { openMailbox } from "../mailbox/mailbox.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import type { AgentState, Endpoint } from "../model/agent.ts";
import { agentId } from "../model/ids.ts";
import { seal, type When } from "../model/message.ts";
import { anAgent } from "../testing/agents.ts";
import { lowestRank, type Transport } from "./transports/port.ts";
import { Lateness } from "./lateness.ts";

const transports: Readonly<Record<string, Partial<Transport>>> = {
  tmux: {},
  hook: { earliest: ({ sessionId }) => (sessionId === null ? null : "interrupt") },
  "opencode-server": { earliest: () => "tool" },
};
const transportOf = (name: string): Transport =>
  ({ name, traits: { bestProof: "screen", authority: "user", rank: lowestRank }, ...transports[name] }) as Transport;

async function noteFor(change: {
  when: When;
  state?: AgentState;
  reachedBy?: string[];
  sessionId?: string | null;
  remedy?: string | null;
}) {
  const {
    when,
    state = "working",
    reachedBy = ["tmux", "hook"],
    sessionId = null,
    remedy = "tieline setup --hooks claude",
  } = change;
  const mailbox = openMailbox(memoryStore());
  const lateness = new Lateness({ mailbox, transportOf, remedyFor: () => remedy });
  const endpoints: Endpoint[] = reachedBy.map((transport) => ({ transport, locator: {} }));
  const ana = anAgent({ name: "ana", state, sessionId, endpoints });
  const message = seal(
    { to: "ana", body: "stop", when },
    { id: agentId("user"), name: "user", team: "web", knownBy: "user" },
    { inReplyTo: null, hops: 1 },
  );
  const { deliveries } = await mailbox.accept(message, [ana]);
  const { id } = deliveries[0]!;
  await lateness.announce(ana, message, deliveries[0]!);
  const notes = () => mailbox.delivery(id)!.notes;
  const deliverBy = async (transport: string, to = ana) => {
    await mailbox.claim(id, { lane: "push", now: Date.now(), transport, authority: "user" });
    const settled = await mailbox.settle(id, { kind: "delivered", proof: "screen" }, { transport, authority: "user" });
    await lateness.takeBack(to, message, settled);
  };
  return { ana, notes, deliverBy };
}

test("an urgent message to a working agent without hooks says when it arrives, and how to speed it up", async () => {
  for (const when of ["interrupt", "tool"] as const) {
    const { notes, deliverBy } = await noteFor({ when });
    const text =
      `--when ${when} works only as --when turn: no hook of ana calls Tieline; run \`tieline setup --hooks ` +
      `claude\`, then restart ana`;
    expect(notes()).toEqual([{ code: "degraded", text }]);
    await deliverBy("tmux");
    expect(notes()).toEqual([{ code: "degraded", text }]);
  }
});

test("nothing is said where nothing is late", async () => {
  expect((await noteFor({ when: "turn" })).notes()).toEqual([]);
  expect((await noteFor({ when: "interrupt", state: "idle" })).notes()).toEqual([]);
  expect((await noteFor({ when: "interrupt", sessionId: "s-1" })).notes()).toEqual([]);
  expect((await noteFor({ when: "tool", reachedBy: ["opencode-server"] })).notes()).toEqual([]);
});

test("a program that no command can help is described as it is", async () => {
  const { notes } = await noteFor({ when: "interrupt", reachedBy: ["tmux"], remedy: null });
  expect(notes()).toMatchObject([
    { text: "--when interrupt works only as --when turn: ana can only be reached between turns" },
  ]);
  const served = await noteFor({ when: "interrupt", reachedBy: ["opencode-server", "tmux"], remedy: null });
  expect(served.notes()).toMatchObject([
    { text: "--when interrupt works only as --when tool: the tool calls of ana cannot be refused" },
  ]);
});

test("a hook that calls after all takes the note back", async () => {
  const { ana, notes, deliverBy } = await noteFor({ when: "interrupt" });
  expect(notes()).toHaveLength(1);
  await deliverBy("hook", { ...ana, sessionId: "s-1" });
  expect(notes()).toEqual([]);
});
