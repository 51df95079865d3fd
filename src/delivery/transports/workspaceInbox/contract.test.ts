import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent } from "../../../testing/agents.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { workspaceInboxTransport } from "./transport.ts";
import { openWorkspaceInbox } from "./write.ts";

transportContract(
  "workspace-inbox",
  async () => {
    const workspace = mkdtempSync(join(tmpdir(), "tl-workspace-"));
    const inbox = openWorkspaceInbox(workspace);
    const endpoint = { transport: "workspace-inbox", locator: {} };
    const agent = anAgent({ name: "ana", workspace, endpoints: [endpoint] });
    const files = (): string[] =>
      readdirSync(join(workspace, ".inbox"))
        .filter((file) => file.endsWith(".json"))
        .toSorted();
    const transport = workspaceInboxTransport({
      async write(_, { from, body, id, tag, acceptedAt }) {
        await inbox.write({ from: from.name, author: "user", content: body, id, tag, sentAt: acceptedAt });
      },
      wrote: (_, { id }) => inbox.wrote(id),
    });
    return {
      transport,
      agent,
      endpoint,
      received: () =>
        files().map(
          (file) => (JSON.parse(readFileSync(join(workspace, ".inbox", file), "utf8")) as { content: string }).content,
        ),
      vanish: async () => rmSync(workspace, { recursive: true }),
      async [Symbol.asyncDispose]() {
        await inbox.close();
        rmSync(workspace, { recursive: true, force: true });
      },
    };
  },
  { remembers: true, vanished: "held" },
);
