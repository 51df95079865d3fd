/** Where each agent program keeps its MCP servers, and what it wants to know of one. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { codexFolder, geminiFolder, homeIn, type Environment } from "../providers/folders.ts";
import { jsonText, tomlText, type Registry } from "./registries.ts";

export interface McpProgram {
  readonly title: string;
  file(env: Environment): string;
  readonly registry: Registry;
  /** The entry for a server that is started by this command. */
  entry(command: string): Readonly<Record<string, unknown>>;
  readonly note: string;
}

const restarted = "sessions that run already see it when they are started again";

export const mcpPrograms: Readonly<Record<string, McpProgram>> = {
  claude: {
    title: "Claude Code",
    file: (env) => join(env["CLAUDE_CONFIG_DIR"] || homeIn(env), ".claude.json"),
    registry: jsonText(["mcpServers", "tieline"]),
    entry: (command) => ({ type: "stdio", command, args: ["mcp"] }),
    note: restarted,
  },
  codex: {
    title: "Codex",
    file: (env) => join(codexFolder(env), "config.toml"),
    registry: tomlText("mcp_servers.tieline"),
    // Codex hands on only the variables that are named here, and gives up on a tool after a minute unless told
    // otherwise.
    entry: (command) => ({
      command,
      args: ["mcp"],
      env_vars: ["TIELINE_HOME", "TIELINE_TOKEN", "TIELINE_TEAM", "TIELINE_SANDBOX"],
      tool_timeout_sec: 620,
    }),
    note: restarted,
  },
  gemini: {
    title: "Gemini CLI",
    file: (env) => join(geminiFolder(env), "settings.json"),
    registry: jsonText(["mcpServers", "tieline"]),
    entry: (command) => ({ command, args: ["mcp"], timeout: 620_000 }),
    note: restarted,
  },
  opencode: {
    title: "opencode",
    file: (env) => opencodeFile(join(env["XDG_CONFIG_HOME"] || join(homeIn(env), ".config"), "opencode")),
    registry: jsonText(["mcp", "tieline"]),
    entry: (command) => ({ type: "local", command: [command, "mcp"], enabled: true }),
    note: restarted,
  },
};

/** It reads both; the one that is there is the one that its owner edits. */
function opencodeFile(folder: string): string {
  const commented = join(folder, "opencode.jsonc");
  return existsSync(commented) ? commented : join(folder, "opencode.json");
}
