import { expect, test } from "bun:test";
import type { Outcome } from "../../../model/delivery.ts";
import { anAgent } from "../../../testing/agents.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { bothEndpoint } from "../bothEndpoint.ts";
import { lowestRank, type Attempt, type Readiness, type Transport } from "../port.ts";
import { paneAndInboxTransport } from "./transport.ts";

/** A transport that records what was written. */
function played(name: string, { outcome, readiness = { kind: "ready" } }: { outcome: Outcome; readiness?: Readiness }) {
  const texts: string[] = [];
  const transport: Transport = {
    name,
    traits: {
      bestProof: name === "tmux" ? "screen" : "written",
      authority: name === "tmux" ? "user" : "peer",
      rank: lowestRank,
    },
    ready: async () => readiness,
    async deliver({ message, endpoint }) {
      if (endpoint.transport !== name) throw new Error(`${name} was given ${endpoint.transport}`);
      if (outcome.kind === "delivered") texts.push(message.body);
      return outcome;
    },
    inspect: async ({ message }) =>
      texts.includes(message.body) ? outcome : { kind: "absent", detail: "never written" },
    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };
  return { transport, texts };
}

const agent = anAgent({
  name: "ana",
  endpoints: [{ transport: "tmux", locator: {} }, { transport: "claude-inbox", locator: {} }, bothEndpoint],
});
const attempt = { agent, endpoint: bothEndpoint, message: { body: "hi" } } as unknown as Attempt;
const typed: Outcome = { kind: "delivered", proof: "screen" };
const laid: Outcome = { kind: "delivered", proof: "written", detail: "it lies in the member's inbox" };

test.each<[what: string, pane: Outcome, inbox: Outcome, result: object, inboxGot: number]>([
  [
    "both arrive",
    typed,
    laid,
    { kind: "delivered", proof: "screen", detail: "pane: screen; inbox: it lies in the member's inbox" },
    1,
  ],
  [
    "the moment passed: nothing was written anywhere",
    { kind: "held", hold: { reason: "busy", detail: "it works" } },
    laid,
    { kind: "held" },
    0,
  ],
  ["the pane refused: nothing was written anywhere", { kind: "error", detail: "no" }, laid, { kind: "error" }, 0],
  [
    "the pane is gone, the inbox is not",
    { kind: "gone", detail: "its pane ended" },
    laid,
    { kind: "delivered", proof: "written", authority: "peer", detail: expect.stringContaining("its pane ended") },
    1,
  ],
  [
    "the inbox is gone, the pane is not",
    typed,
    { kind: "gone", detail: "no team" },
    { kind: "delivered", proof: "screen", detail: expect.stringContaining("inbox: no team") },
    0,
  ],
  [
    "the pane is uncertain, and the inbox failed",
    { kind: "unknown", detail: "?" },
    { kind: "error", detail: "locked" },
    { kind: "unknown" },
    0,
  ],
  [
    "neither is there",
    { kind: "gone", detail: "its pane ended" },
    { kind: "gone", detail: "no team" },
    { kind: "gone" },
    0,
  ],
])("%s", async (_, paneOutcome, inboxOutcome, result, inboxGot) => {
  const inbox = played("claude-inbox", { outcome: inboxOutcome });
  const both = paneAndInboxTransport({
    pane: played("tmux", { outcome: paneOutcome }).transport,
    inbox: inbox.transport,
  });
  expect(await both.deliver(attempt, AbortSignal.timeout(1_000))).toMatchObject(result);
  expect(inbox.texts).toHaveLength(inboxGot);
});

transportContract(
  "both",
  async () => {
    const pane = played("tmux", { outcome: typed });
    const inbox = played("claude-inbox", { outcome: laid });
    let transport = paneAndInboxTransport({ pane: pane.transport, inbox: inbox.transport });
    return {
      get transport() {
        return transport;
      },
      agent,
      endpoint: bothEndpoint,
      received: () =>
        JSON.stringify(pane.texts) === JSON.stringify(inbox.texts)
          ? pane.texts
          : [...pane.texts, "in only one of them"],
      async vanish() {
        const gone = { kind: "gone", detail: "gone" } as const;
        transport = paneAndInboxTransport({
          pane: played("tmux", { outcome: gone, readiness: gone }).transport,
          inbox: played("claude-inbox", { outcome: gone, readiness: gone }).transport,
        });
      },
      [Symbol.asyncDispose]: async () => undefined,
    };
  },
  { remembers: true, vanished: "gone" },
);
