import { inHome, type Environment } from "../folders.ts";

/** Where Codex keeps its settings and threads. */
export const codexFolder = (env: Environment): string => env["CODEX_HOME"] || inHome(env, ".codex");
