import { join } from "node:path";
import { tomlText } from "../mcpSettings.ts";
import type { Provider } from "../port.ts";
import { connect } from "./connection.ts";
import { codexFolder } from "./folder.ts";
import { codexDialect } from "./hooks.ts";
import { settingsWithHooks } from "./install.ts";
import { codexServerKind } from "./threads.ts";
import { codexQueueKind } from "./transports/queue/transport.ts";
import { launching } from "./launch.ts";
import screen from "./screen.json";
import { terminal } from "./terminal.ts";

export const codex: Provider = {
  ...launching,
  name: "codex",
  title: "Codex",
  program: "codex",
  packages: ["@openai/codex"],
  screen,
  terminal,
  hooks: { dialect: codexDialect, settings: settingsWithHooks },
  mcp: {
    file: (env) => join(codexFolder(env), "config.toml"),
    registry: tomlText(["mcp_servers", "tieline"]),
    // Codex passes on only the variables named here, and gives up on a tool after a minute unless told otherwise.
    entry: (command) => ({
      command,
      args: ["mcp"],
      env_vars: ["TIELINE_HOME", "TIELINE_TOKEN", "TIELINE_TEAM", "TIELINE_SANDBOX"],
      tool_timeout_sec: 620,
    }),
  },
  transportsInPane: ["codex-queue"],
  childVariables: [
    "CODEX_THREAD_ID",
    "CODEX_SESSION_ID",
    "CODEX_TOOL_CALL_ID",
    "CODEX_SANDBOX",
    "CODEX_SANDBOX_NETWORK_DISABLED",
  ],
  usesLoginShells: true,
  // A Codex daemon carries the pane in which it was started.
  sharesProcess: true,
  connect,
  endpoints: [codexServerKind.schema, codexQueueKind.schema],
};
