import type { Endpoint } from "../../model/agent.ts";

/** Writes to the native inbox and to the pane of one agent, where the configuration asks for both. */
export const bothTransport = "both";
export const bothEndpoint: Endpoint = { transport: bothTransport, locator: {} };
