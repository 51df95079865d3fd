import type { Agent } from "../../../model/agent.ts";
import { systemClock, type Clock } from "../../../model/ids.ts";
import type { Submissions } from "../../submissions.ts";
import { createTextParser } from "../../text/parser.ts";
import type { HookCall } from "../../../providers/hooks/hookCall.ts";
import type { HookHandler } from "../../../providers/hooks/hookHandler.ts";

/** Sends the text markers in the last message of a turn, for agents whose profile asks for it. */
export function turnText(
  submissions: Submissions,
  isWanted: (agent: Agent) => boolean,
  lengthOf: (agent: Agent, call: HookCall) => number | null,
  clock: Clock = systemClock,
): HookHandler {
  return {
    name: "turn-text",
    events: ["Stop"],
    kind: "observer",
    async handle(call, agent) {
      const said = call.payload["last_assistant_message"];
      if (typeof said !== "string" || call.subagent !== null || !isWanted(agent)) return undefined;
      const parser = createTextParser();
      const turn = turnOf(call, lengthOf(agent, call) ?? clock());
      for (const { at, ...marker } of [...parser.push(said), ...parser.end()])
        await submissions.fromText(agent, marker, `${turn}:${at}`);
      return undefined;
    },
  };
}

/** A transcript has grown by the end of the next turn, so its size names this one; without one, the time does. */
const turnOf = ({ sessionId }: HookCall, lengthOrTime: number): string => `${sessionId}:${lengthOrTime}`;
