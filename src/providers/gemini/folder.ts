import { join } from "node:path";
import { homeIn, type Environment } from "../folders.ts";

/** Where Gemini CLI keeps its settings and conversations. */
export const geminiFolder = (env: Environment): string => join(env["GEMINI_CLI_HOME"] || homeIn(env), ".gemini");
