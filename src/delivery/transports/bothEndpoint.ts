import type { Agent, Endpoint } from "../../model/agent.ts";

/** Two ways into one agent at a time, because somebody wants it so: its native inbox and its pane. */
export const bothTransport = "both";
export const bothEndpoint: Endpoint = { transport: bothTransport, locator: {} };

export const isReachedTwice = ({ endpoints }: Pick<Agent, "endpoints">): boolean =>
  endpoints.some(({ transport }) => transport === bothTransport);
