/**
 * Claude Code without a screen, as far as its streams and files show: a JSON object per line, in and out, an
 * entry in the registry, a transcript, and a model that answers everything at once. A line that is none ends it.
 * `bun scriptedClaude.ts <config folder> <session>`
 */
import { appendFileSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";

export const scriptedClaudePath = import.meta.path;

export const transcriptIn = (configDir: string, session: string): string =>
  join(configDir, "projects", "-work", `${session}.jsonl`);

interface UserLine {
  readonly type: "user";
  readonly uuid: string;
  readonly message: { readonly role: "user"; readonly content: string };
}

interface ControlLine {
  readonly type: "control_request";
  readonly request_id: string;
}

/** The messages in its session, in order. */
export function toldIn(transcript: string): string[] {
  const lines = existsSync(transcript) ? readFileSync(transcript, "utf8").split("\n").slice(0, -1) : [];
  return lines
    .map((line) => JSON.parse(line) as UserLine)
    .filter(({ type }) => type === "user")
    .map(({ message }) => message.content);
}

if (import.meta.main) await run(process.argv[2]!, process.argv[3]!);

async function run(configDir: string, session: string): Promise<void> {
  const transcript = transcriptIn(configDir, session);
  const registered = join(configDir, "sessions", `${process.pid}.json`);
  for (const path of [transcript, registered]) mkdirSync(dirname(path), { recursive: true });
  register("idle");
  for await (const line of console) {
    const heard = JSON.parse(line) as UserLine | ControlLine;
    if (heard.type === "user") answer(heard);
    else
      say({
        type: "control_response",
        response: { subtype: "success", request_id: heard.request_id, response: { still_queued: [] } },
      });
  }

  function answer({ uuid, message }: UserLine): void {
    const lifecycle = (state: string): void => say({ type: "command_lifecycle", command_uuid: uuid, state });
    lifecycle("queued");
    register("busy");
    lifecycle("started");
    record({ type: "user", uuid, message });
    say({ type: "user", isReplay: true, uuid, message });
    const reply = { role: "assistant", content: [{ type: "text", text: "I see." }] };
    record({ type: "assistant", message: reply });
    say({ type: "assistant", user_message_uuid: uuid, message: reply });
    say({ type: "result", subtype: "success", result: "I see." });
    register("idle");
    lifecycle("completed");
  }

  function register(status: string): void {
    writeFileSync(
      `${registered}.new`,
      JSON.stringify({ pid: process.pid, sessionId: session, cwd: "/", status, statusUpdatedAt: Date.now() }),
    );
    renameSync(`${registered}.new`, registered);
  }

  function record(line: object): void {
    appendFileSync(transcript, `${JSON.stringify(line)}\n`);
  }
}

function say(line: object): void {
  process.stdout.write(`${JSON.stringify(line)}\n`);
}
