import type { Agent } from "../../../model/agent.ts";
import type { Submissions } from "../../submissions.ts";
import { createTextParser } from "../../text/parser.ts";
import type { HookCall } from "../call.ts";
import type { HookHandler } from "../chain.ts";

/** Sends the text markers in the last message of a turn, for agents whose profile asks for it. */
export function turnText(
  submissions: Submissions,
  isWanted: (agent: Agent) => boolean,
  lengthOf: (agent: Agent, call: HookCall) => number | null,
): HookHandler {
  return {
    name: "turn-text",
    events: ["Stop"],
    kind: "observer",
    async handle(call, agent) {
      const said = call.payload["last_assistant_message"];
      if (typeof said !== "string" || call.subagent !== null || !isWanted(agent)) return undefined;
      const parser = createTextParser();
      const turn = turnOf(call, lengthOf(agent, call));
      for (const { at, ...marker } of [...parser.push(said), ...parser.end()])
        await submissions.fromText(agent, marker, `${turn}:${at}`);
      return undefined;
    },
  };
}

/** The transcript has grown by the end of the next turn, so that its size names this one. */
const turnOf = ({ sessionId }: HookCall, transcriptLength: number | null): string =>
  `${sessionId}:${transcriptLength ?? Date.now()}`;
