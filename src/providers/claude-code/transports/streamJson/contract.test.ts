import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withStreams } from "../../../../agents/start/headless.ts";
import type { Agent } from "../../../../model/agent.ts";
import type { TranscriptProof } from "../../../../model/delivery.ts";
import type { Message } from "../../../../model/message.ts";
import { ClaudeSessions } from "../../sessions.ts";
import { claudeLines } from "../../transcript.ts";
import { anAgent } from "../../../../testing/agents.ts";
import { scriptedClaudePath, toldIn, transcriptIn } from "../../../../testing/scriptedClaude.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { until } from "../../../../testing/until.ts";
import { findProof } from "../../../transcripts/findProof.ts";
import { hasReader, streamsDirectory, streamsIn } from "../../../../delivery/transports/streams.ts";
import { streamJsonTransport } from "./transport.ts";

const sessionId = "6f1c2a34-9d5e-4b70-8a1b-2c3d4e5f6071";

function proofOf(sessions: ClaudeSessions, agent: Agent, message: Message): Promise<TranscriptProof> {
  const path = sessions.transcriptOf(agent);
  return findProof(
    {
      conversation: sessionId,
      files: path === null ? [] : [{ path, conversation: sessionId }],
      below: [sessions.transcriptFolder(agent)],
      reader: claudeLines,
    },
    message,
  );
}

transportContract(
  "stream-json",
  async () => {
    const home = mkdtempSync(join(tmpdir(), "tl-stream-"));
    const configDir = join(home, ".claude");
    mkdirSync(streamsDirectory(home));
    const streams = streamsIn(home, sessionId);
    // It runs as a headless agent does, without tmux around it.
    const command = withStreams([process.execPath, scriptedClaudePath, configDir, sessionId], streams, "records");
    const child = Bun.spawn([...command], { stdin: "ignore", stdout: "ignore", stderr: "ignore", detached: true });
    const sessions = new ClaudeSessions({ configDir, environ: () => ({}) });
    const endpoint = { transport: "stream-json", locator: {} };
    const agent = anAgent({
      name: "ana",
      provider: "claude-headless",
      sessionId,
      endpoints: [{ transport: "tmux", locator: { agentPid: child.pid } }, endpoint],
    });
    await until(() => sessions.reportedState(agent)?.state === "idle", "the program to register its session");
    return {
      transport: streamJsonTransport({
        home,
        reportedState: (one) => sessions.reportedState(one),
        watchState: (one, changed) => sessions.watch(one, changed),
        proofOf: (one, message) => proofOf(sessions, one, message),
      }),
      agent,
      endpoint,
      received: () => toldIn(transcriptIn(configDir, sessionId)),
      vanish,
      async [Symbol.asyncDispose]() {
        await vanish();
        rmSync(home, { recursive: true, force: true });
      },
    };

    async function vanish(): Promise<void> {
      if (child.exitCode === null && child.signalCode === null) process.kill(-child.pid, "SIGKILL");
      await child.exited;
      await until(() => !hasReader(streams.input), "all of its processes to end");
    }
  },
  // What the session has not written down may still stand in its input or its queue.
  { remembers: false, vanished: "gone" },
);
