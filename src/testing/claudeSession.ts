import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Agent, Endpoint } from "../model/agent.ts";
import type { TranscriptProof } from "../model/delivery.ts";
import type { Message } from "../model/message.ts";
import { ClaudeSessions } from "../providers/claude-code/sessions.ts";
import { claudeLines } from "../providers/claude-code/transcript.ts";
import { findProof } from "../providers/transcripts/findProof.ts";
import { anAgent } from "./agents.ts";

/** What others can see of a Claude Code session: its process, its file in the registry and its transcript. */
export interface ClaudeSession extends AsyncDisposable {
  readonly folder: string;
  readonly pid: number;
  readonly agent: Agent;
  readonly sessions: ClaudeSessions;
  /** Its model is given a text. */
  give(text: string): void;
  given(): readonly string[];
  proofOf(agent: Agent, message: Message): Promise<TranscriptProof>;
  /** As a kill does it: what it has registered stays. */
  end(): Promise<void>;
}

/** An idle one, open to other sessions. `socketName` is that of its inbox socket, in its folder. */
export function claudeSession(sessionId: string, endpoint: Endpoint, socketName?: string): ClaudeSession {
  const folder = mkdtempSync(join(tmpdir(), "tl-claude-"));
  const transcript = join(folder, "projects", "here", `${sessionId}.jsonl`);
  for (const made of ["sessions", "projects/here"]) mkdirSync(join(folder, made), { recursive: true });
  const program = Bun.spawn(["cat"], { stdin: "pipe", stdout: "ignore" });
  const { pid } = program;
  const messagingSocketPath = socketName && join(folder, socketName);
  writeFileSync(
    join(folder, "sessions", `${pid}.json`),
    JSON.stringify({ pid, sessionId, cwd: folder, status: "idle", messagingSocketPath }),
  );
  writeFileSync(join(folder, "settings.json"), JSON.stringify({ crossSessionInbound: "accept" }));
  const sessions = new ClaudeSessions({ configDir: folder, environ: () => ({}) });
  const lines = (): string[] =>
    existsSync(transcript) ? readFileSync(transcript, "utf8").split("\n").filter(Boolean) : [];
  const end = async (): Promise<void> => {
    program.kill("SIGKILL");
    await program.exited;
  };
  return {
    folder,
    pid,
    agent: anAgent({
      name: "ana",
      provider: "claude-code",
      sessionId,
      endpoints: [{ transport: "tmux", locator: { agentPid: pid } }, endpoint],
    }),
    sessions,
    give: (text) =>
      appendFileSync(transcript, `${JSON.stringify({ type: "user", message: { role: "user", content: text } })}\n`),
    given: () => lines().map((line) => (JSON.parse(line) as { message: { content: string } }).message.content),
    proofOf: (_, message) =>
      findProof(
        {
          conversation: sessionId,
          files: [{ path: transcript, conversation: sessionId }],
          below: [folder],
          reader: claudeLines,
        },
        message,
      ),
    end,
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
