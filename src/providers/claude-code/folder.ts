import { inHome, type Environment } from "../folders.ts";

/** Where Claude Code keeps its settings and conversations. */
export const claudeFolder = (env: Environment): string => env["CLAUDE_CONFIG_DIR"] || inHome(env, ".claude");
