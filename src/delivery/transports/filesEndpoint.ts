import type { Agent, Endpoint } from "../../model/agent.ts";

/** The way into an agent that reads its mail from the files of its workspace, and nothing else. */
export const filesTransport = "workspace-inbox";
export const filesEndpoint: Endpoint = { transport: filesTransport, locator: {} };

export const readsFiles = ({ endpoints }: Pick<Agent, "endpoints">): boolean =>
  endpoints.some(({ transport }) => transport === filesTransport);
