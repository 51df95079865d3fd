import type { Switch } from "../../compose.ts";
import { TielineError } from "../../model/errors.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../http.ts";
import { oneAgent } from "./agents.ts";

export function seeingOperations(tieline: Switch, callers: Callers): Pick<Operations, "explain"> {
  return {
    async explain({ agent: address }, { caller }) {
      const from = await callers.sender(caller);
      const agent = oneAgent(address, tieline.resolve(address, from).agents);
      const explanation = await tieline.sensing.explain(agent);
      if (explanation === null) {
        throw new TielineError("PANE_UNKNOWN", `${agent.name} is in no pane, so there is no screen to read`, {
          remedy: "start or adopt it first; `tieline ls` shows what is known of it",
          operands: { agent: agent.name, state: agent.state },
        });
      }
      return { agent: agent.name, provider: agent.provider, ...explanation };
    },
  };
}
