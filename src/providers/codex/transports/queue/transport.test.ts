import { expect, test } from "bun:test";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { userId } from "../../../../model/agent.ts";
import type { Delivery, HoldReason } from "../../../../model/delivery.ts";
import { seal } from "../../../../model/message.ts";
import { anAgent } from "../../../../testing/agents.ts";
import type { Attempt } from "../../../../delivery/transports/port.ts";
import { codexQueueTransport } from "./transport.ts";

const ana = anAgent({
  name: "ana",
  endpoints: [
    { transport: "tmux", locator: {} },
    { transport: "codex-queue", locator: {} },
  ],
});

function setUp() {
  const transcript = join(mkdtempSync(join(tmpdir(), "tl-queue-")), "rollout.jsonl");
  writeFileSync(transcript, "");
  const state = {
    hold: null as HoldReason | null,
    now: 1_000,
    complaint: null as string | null,
    added: [] as string[],
  };
  const transport = codexQueueTransport({
    clock: () => state.now,
    pane: {
      probe: async () =>
        state.hold === null ? { kind: "ready" } : { kind: "held", hold: { reason: state.hold, detail: "" } },
    },
    queueOf: () => ({
      transcript: { path: transcript, below: [dirname(transcript)] },
      async add(text) {
        state.added.push(text);
        return state.complaint;
      },
    }),
  });
  const message = seal(
    { to: "ana", body: "hello" },
    { id: userId, name: "user", team: "web", knownBy: "token" },
    { inReplyTo: null, hops: 1 },
  );
  const attempt: Attempt = { message, delivery: {} as Delivery, agent: ana, endpoint: ana.endpoints[1]!, mark: "" };
  const deliver = async () => {
    const readiness = await transport.ready(attempt);
    if (readiness.kind !== "ready") throw new Error("not ready");
    return transport.deliver({ ...attempt, observed: readiness.observed }, AbortSignal.timeout(1_000));
  };
  const payload = { type: "message", role: "user", content: `[${message.tag} from user]` };
  const record = (): void => writeFileSync(transcript, `${JSON.stringify({ type: "response_item", payload })}\n`);
  return { transport, attempt, state, deliver, record };
}

test("is used only where typing is not possible", async () => {
  const { transport, attempt, state } = setUp();
  const ways: string[] = [];
  for (const hold of [
    null,
    "draft",
    "copy-mode",
    "busy",
    "permission",
    "question",
    "dialog",
    "typing",
    "unreadable",
  ] as const) {
    state.hold = hold;
    ways.push(`${hold}: ${(await transport.ready(attempt)).kind}`);
  }
  expect(ways).toEqual([
    "null: gone",
    "draft: ready",
    "copy-mode: ready",
    "busy: gone",
    "permission: gone",
    "question: gone",
    "dialog: gone",
    "typing: gone",
    "unreadable: gone",
  ]);
});

test("what is queued comes before what is typed, until Codex has taken it or will not", async () => {
  const { transport, attempt, state, deliver, record } = setUp();
  state.hold = "draft";
  expect(await deliver()).toMatchObject({ kind: "delivered", proof: "written" });
  state.hold = null;
  expect((await transport.ready(attempt)).kind).toBe("ready");
  record();
  expect((await transport.ready(attempt)).kind).toBe("gone");
  expect(await transport.inspect(attempt)).toMatchObject({ kind: "delivered", proof: "submitted" });
});

test("does not wait for a stuck queue, and takes a complaint as an error", async () => {
  const { transport, attempt, state, deliver } = setUp();
  state.hold = "draft";
  await deliver();
  state.hold = null;
  state.now += 20_000;
  expect((await transport.ready(attempt)).kind).toBe("gone");
  Object.assign(state, { hold: "draft", complaint: "no rollout found" });
  expect(await deliver()).toEqual({ kind: "error", detail: "no rollout found" });
});
