import { join } from "node:path";
import { homeIn } from "../folders.ts";
import headlessScreen from "../headlessScreen.json";
import { jsonText } from "../mcpSettings.ts";
import type { Provider } from "../port.ts";
import { connect } from "./connection.ts";
import { headlessLaunching } from "./headless.ts";
import { settingsWithHooks } from "./install.ts";
import { claudeInboxKind } from "./inboxEndpoint.ts";
import { claudeSocketKind } from "./transports/socket/transport.ts";
import { streamJsonKind } from "./transports/streamJson/transport.ts";
import { launching } from "./launch.ts";
import screen from "./screen.json";
import { terminal } from "./terminal.ts";

const program: Omit<Provider, "name" | "screen"> = {
  ...launching,
  title: "Claude Code",
  program: "claude",
  packages: ["@anthropic-ai/claude-code"],
  childVariables: [
    "CLAUDECODE",
    "CLAUDE_CODE_SESSION_ID",
    "CLAUDE_CODE_ENTRYPOINT",
    "CLAUDE_CODE_MESSAGING_SOCKET",
    "CLAUDE_CODE_MESSAGING_TOKEN",
    "CLAUDE_ENV_FILE",
    "CLAUDE_PID",
    "CLAUDE_PROJECT_DIR",
  ],
};

const claudeHeadless: Provider = {
  ...program,
  ...headlessLaunching,
  name: "claude-headless",
  screen: { ...headlessScreen, provider: "claude-headless" },
  transportsInPane: ["stream-json", "claude-socket", "hook"],
};

export const claudeCode: Provider = {
  ...program,
  name: "claude-code",
  screen,
  terminal,
  hooks: { settings: settingsWithHooks },
  mcp: {
    file: (env) => join(env["CLAUDE_CONFIG_DIR"] || homeIn(env), ".claude.json"),
    registry: jsonText(["mcpServers", "tieline"]),
    entry: (command) => ({ type: "stdio", command, args: ["mcp"] }),
  },
  headless: claudeHeadless,
  connect,
  endpoints: [claudeSocketKind.schema, streamJsonKind.schema, claudeInboxKind.schema],
  transportsInPane: ["claude-socket", "hook"],
};
