import type { Directory } from "../../../../agents/directory/directory.ts";
import type { Agent } from "../../../../model/agent.ts";
import { systemClock, type Clock } from "../../../../model/ids.ts";
import type { Sender } from "../../../../model/message.ts";
import { leadName, shutdownRequest } from "../teamProtocol.ts";
import type { Router } from "../../../../routing/router.ts";

export interface ShutdownParts {
  readonly directory: Pick<Directory, "update">;
  readonly router: Pick<Router, "send">;
}

/** A member of a Claude Code team of which we know nothing but its inbox. */
export const isNativeOnly = ({ endpoints }: Agent): boolean =>
  endpoints.length > 0 && endpoints.every(({ transport }) => transport === "claude-inbox");

/** Asks as its lead would. It ends when it agrees, and counts as ended only then. */
export async function askToShutDown(
  agent: Agent,
  from: Sender,
  { directory, router }: ShutdownParts,
  clock: Clock = systemClock,
): Promise<Agent> {
  const now = clock();
  const body = shutdownRequest(
    { id: `shutdown-${now}@${agent.name}`, from: leadName, reason: `${from.name} asks you to end` },
    now,
  );
  await router.send({ to: agent.id, kind: "shutdown_request", body, summary: "asked to shut down" }, from);
  return directory.update(agent.id, { stateReason: "asked to shut down; it has not answered yet" });
}
