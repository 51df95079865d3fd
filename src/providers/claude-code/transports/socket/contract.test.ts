import { createServer, type Server } from "node:net";
import { join } from "node:path";
import { claudeSession } from "../../../../testing/claudeSession.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { claudeSocketEndpoint, claudeSocketTransport } from "./transport.ts";

/** Takes frames, one a line, as Claude Code's inbox socket does, and closes when the writer has ended. */
function inboxSocket(give: (text: string) => void): Server {
  return createServer((connection) => {
    let bytes = "";
    connection.setEncoding("utf8").on("data", (part: string) => (bytes += part));
    connection.on("end", () => {
      for (const line of bytes.split("\n").filter(Boolean))
        give((JSON.parse(line) as { message: { content: string } }).message.content);
    });
  });
}

transportContract(
  "claude-socket",
  async () => {
    const session = claudeSession("s-1", claudeSocketEndpoint, "inbox.sock");
    const inbox = inboxSocket(session.give);
    await new Promise<void>((listening) => inbox.listen(join(session.folder, "inbox.sock"), listening));
    const { sessions, agent, given, proofOf } = session;
    return {
      transport: claudeSocketTransport({
        sessions,
        proofOf,
        hooksReach: () => false,
        timers: { pause: async () => undefined },
      }),
      agent,
      endpoint: claudeSocketEndpoint,
      received: given,
      async vanish() {
        inbox.close();
        await session.end();
      },
      async [Symbol.asyncDispose]() {
        inbox.close();
        await session[Symbol.asyncDispose]();
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
