import type { Agent } from "../../model/agent.ts";
import { endpointKind } from "./endpointKind.ts";

/** For an agent that reads its mail from the files of its workspace, and nothing else. */
export const filesKind = endpointKind("workspace-inbox", {});
export const filesEndpoint = filesKind.make({});

export const readsFiles = (agent: Pick<Agent, "endpoints">): boolean => filesKind.of(agent) !== undefined;
