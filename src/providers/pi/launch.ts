import { existsSync } from "node:fs";
import { flags, withArguments, type Launching } from "../port.ts";
// As text only: who also imports it as a module gets no text in the single file.
import extension from "./extension.ts" with { type: "text" };
import { piExtensionEndpoint } from "./sessions.ts";

/** Behind the socket's path, so that the copy of the extension knows where to listen. */
const besideSocket = ".pi.ts";

export const launching: Launching = {
  install: "npm install -g @earendil-works/pi-coding-agent",
  takesSessionId: false,
  resumes: true,
  neverAsks: true,

  launchCommand(profile, { sessionId, resume, prompt, model, ownSocket = null }) {
    const file = ownSocket && `${ownSocket}${besideSocket}`;
    const own = flags(
      resume && sessionId !== null && ["--session", sessionId],
      model !== null && ["--model", model],
      prompt && ["--append-system-prompt", prompt.file],
      file !== null && ["--extension", file],
    );
    const command = withArguments(profile.command ?? ["pi"], [...own, ...profile.args]);
    if (ownSocket === null || file === null) return { command, env: {} };
    return {
      command,
      env: {},
      files: { [file]: extension as unknown as string },
      endpoints: [piExtensionEndpoint({ socket: ownSocket })],
    };
  },

  /** A session is written down with its first answer. */
  async hasConversation(sessionId, env) {
    const sessions =
      env["PI_CODING_AGENT_SESSION_DIR"] ||
      `${env["PI_CODING_AGENT_DIR"] || `${env["HOME"] ?? ""}/.pi/agent`}/sessions`;
    if (!existsSync(sessions)) return false;
    const files = new Bun.Glob(`**/*_${sessionId}.jsonl`).scan({ cwd: sessions, dot: true });
    return !(await files.next()).done;
  },

  exitWords: "/quit",
  interruptKeys: ["Escape"],
  dialogs: null,
};
