import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inboxFile } from "../../providers/claude-code/teamInbox.ts";
import { anAgent } from "../../testing/agents.ts";
import { transportContract } from "../../testing/transportContract.ts";
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
      received: () => inboxFile(inbox).rows().map(({ text }) => text),
      vanish: async () => rmSync(team, { recursive: true }),
      [Symbol.asyncDispose]: async () => rmSync(team, { recursive: true, force: true }),
    };
  },
  { remembers: false, vanished: "gone" },
);
