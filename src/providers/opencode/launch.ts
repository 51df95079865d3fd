import type { PermissionMode } from "../../model/profile.ts";
import { flags, withArguments, type Launching } from "../port.ts";
import { opencodeServerEndpoint } from "./sessions.ts";

const permissionConfig: Readonly<Record<PermissionMode, object>> = {
  ask: { bash: "ask", edit: "ask" },
  auto: { bash: "ask", edit: "allow" },
  skip: { bash: "allow", edit: "allow", external_directory: "allow" },
};

export const launching: Launching = {
  install: "npm install -g opencode-ai",
  takesSessionId: false,
  resumes: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model, ownPort = null }) {
    // A port of the profile's own is for others, and may ask for a word that we do not know.
    const door = profile.args.includes("--port")
      ? null
      : ownPort && { ...ownPort, password: profile.env["OPENCODE_SERVER_PASSWORD"] ?? ownPort.password };
    const own = flags(
      resume && sessionId !== null && ["--session", sessionId],
      model !== null && ["--model", model],
      door && ["--port", String(door.port)],
    );
    const config = { permission: permissionConfig[permissions], ...(prompt && { instructions: [prompt.file] }) };
    return {
      command: withArguments(profile.command ?? ["opencode"], [...own, ...profile.args]),
      env: {
        OPENCODE_CONFIG_CONTENT: JSON.stringify(config),
        ...(door && { OPENCODE_SERVER_USERNAME: "opencode", OPENCODE_SERVER_PASSWORD: door.password }),
      },
      ...(door && { endpoints: [opencodeServerEndpoint(door)] }),
    };
  },

  exitWords: "/exit",
  interruptKeys: ["Escape"],
  dialogs: {
    // The choices stand in one row, and the first is chosen when it opens.
    choice: /(?<label>Allow once|Allow always|Reject)/gu,
    keys: (place) => [...Array.from({ length: place - 1 }, () => "Right"), "Enter"],
  },
};
