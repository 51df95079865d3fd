import { expect, test } from "bun:test";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inboxFile } from "../../teams/teamInbox.ts";
import { queued } from "../../../../mailbox/steps.ts";
import { deliveryId } from "../../../../model/ids.ts";
import { seal } from "../../../../model/message.ts";
import { anAgent } from "../../../../testing/agents.ts";
import { user } from "../../../../testing/mailboxContract.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { claudeInboxEndpoint, claudeInboxTransport } from "./transport.ts";

transportContract(
  "claude-inbox",
  async () => {
    const team = mkdtempSync(join(tmpdir(), "tl-team-"));
    const inbox = join(team, "inboxes", "ana.json");
    const endpoint = claudeInboxEndpoint(inbox);
    return {
      transport: claudeInboxTransport(),
      agent: anAgent({ name: "ana", endpoints: [endpoint] }),
      endpoint,
      received: () =>
        inboxFile(inbox)
          .rows()
          .map(({ text }) => text),
      vanish: async () => rmSync(team, { recursive: true }),
      [Symbol.asyncDispose]: async () => rmSync(team, { recursive: true, force: true }),
    };
  },
  { remembers: false, vanished: "gone" },
);

test("creates no inbox for a name that is not in the team", async () => {
  const team = mkdtempSync(join(tmpdir(), "tl-team-"));
  try {
    writeFileSync(join(team, "config.json"), JSON.stringify({ name: "t1", members: [{ name: "bob" }] }));
    const endpoint = claudeInboxEndpoint(join(team, "inboxes", "ana.json"));
    const agent = anAgent({ name: "ana", endpoints: [endpoint] });
    const message = seal({ to: "ana", body: "hello" }, user, { inReplyTo: null, hops: 0 });
    const attempt = { message, agent, endpoint, delivery: { ...queued(message, agent), id: deliveryId(1) }, mark: "m" };
    const transport = claudeInboxTransport();
    expect(await transport.ready(attempt)).toMatchObject({ kind: "gone" });
    expect(await transport.deliver(attempt, AbortSignal.timeout(5_000))).toMatchObject({ kind: "gone" });
    expect(existsSync(join(team, "inboxes"))).toBe(false);
  } finally {
    rmSync(team, { recursive: true });
  }
});
