import { endpointBy, type Agent } from "../../model/agent.ts";
import type { Environment } from "../folders.ts";
import { geminiFolder } from "./folder.ts";
import { environOf } from "../processFiles.ts";

/** Where the agent's Gemini CLI keeps its things: as its process says, or as our own environment does. */
export function settingsOfGemini(agent: Agent, env: Environment): string {
  const pid = endpointBy("tmux", agent)?.locator["agentPid"];
  const own = typeof pid === "number" ? environOf(pid) : {};
  return geminiFolder(own["GEMINI_CLI_HOME"] || own["HOME"] ? own : env);
}
