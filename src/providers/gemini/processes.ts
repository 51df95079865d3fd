import type { Agent } from "../../model/agent.ts";
import type { Environment } from "../folders.ts";
import { geminiFolder } from "./folder.ts";
import { environOf } from "../processFiles.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";

/** Where the agent's Gemini CLI keeps its things: as its process says, or as our own environment does. */
export function settingsOfGemini(agent: Agent, env: Environment): string {
  const pid = tmuxEndpoint.of(agent)?.locator.agentPid;
  const own = pid === undefined ? {} : environOf(pid);
  return geminiFolder(own["GEMINI_CLI_HOME"] || own["HOME"] ? own : env);
}
