import { join } from "node:path";
import { jsonText } from "../mcpSettings.ts";
import type { Provider } from "../port.ts";
import { connect } from "./connection.ts";
import { geminiFolder } from "./folder.ts";
import { geminiDialect } from "./hooks.ts";
import { settingsWithHooks } from "./install.ts";
import { launching } from "./launch.ts";
import screen from "./screen.json";
import { terminal } from "./terminal.ts";

export const gemini: Provider = {
  ...launching,
  name: "gemini",
  title: "Gemini CLI",
  program: "gemini",
  packages: ["@google/gemini-cli"],
  screen,
  terminal,
  hooks: { dialect: geminiDialect, settings: settingsWithHooks },
  mcp: {
    file: (env) => join(geminiFolder(env), "settings.json"),
    registry: jsonText(["mcpServers", "tieline"]),
    entry: (command) => ({ command, args: ["mcp"], timeout: 620_000 }),
  },
  childVariables: ["GEMINI_CLI"],
  connect,
};
