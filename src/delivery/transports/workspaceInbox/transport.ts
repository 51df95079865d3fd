import { statSync } from "node:fs";
import type { Agent } from "../../../model/agent.ts";
import type { Message } from "../../../model/message.ts";
import { filesKind } from "../filesEndpoint.ts";
import { lowestRank, type Transport } from "../port.ts";

/** Where the files of all workspaces are written. */
export interface InboxWriter {
  write(agent: Agent, message: Message): Promise<void>;
  /** Also when the agent has removed the file already. */
  wrote(agent: Agent, message: Message): boolean;
}

/**
 * For agents that have nothing but their files. What is written there can be read at any time, so it is always ready.
 */
export function workspaceInboxTransport(writer: InboxWriter): Transport {
  return {
    name: filesKind.transport,
    traits: { bestProof: "written", authority: "peer", quiet: true, rank: lowestRank, exclusive: true },

    async ready({ agent }) {
      if (agent.workspace !== null && statSync(agent.workspace, { throwIfNoEntry: false })?.isDirectory())
        return { kind: "ready" };
      return {
        kind: "held",
        hold: { reason: "unreadable", detail: `the workspace ${agent.workspace} is not there` },
        againInMs: 5_000,
      };
    },

    async deliver({ agent, message }) {
      try {
        await writer.write(agent, message);
        return { kind: "delivered", proof: "written" };
      } catch (thrown) {
        // A file appears under its name only when it is complete.
        if (writer.wrote(agent, message)) return { kind: "delivered", proof: "written" };
        return {
          kind: "error",
          detail: `the file cannot be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`,
        };
      }
    },

    async inspect({ agent, message }) {
      if (writer.wrote(agent, message)) return { kind: "delivered", proof: "written" };
      return { kind: "absent", detail: "its file was never written" };
    },

    watch: () => ({ [Symbol.dispose]: () => undefined }),
  };
}
