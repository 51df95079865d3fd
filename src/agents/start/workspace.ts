import { mkdirSync } from "node:fs";
import type { Directory } from "../directory/directory.ts";
import type { Agent } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { isWithin, realPath } from "../../os/paths.ts";

/**
 * A file in an outbox speaks for the agent whose workspace it lies in, so that no two may share one, or a part of one.
 */
export function claimWorkspace(
  workspace: string,
  owner: Pick<Agent, "name" | "team">,
  directory: Pick<Directory, "agents">,
): string {
  mkdirSync(workspace, { recursive: true });
  const path = realPath(workspace);
  for (const { name, team, workspace: other } of directory.agents()) {
    if (other === null || (name === owner.name && team === owner.team)) continue;
    const held = realPath(other);
    if (isWithin(path, held) || isWithin(held, path)) throw shared(path, held, `${team}:${name}`);
  }
  return path;
}

/** The workspaces of the other agents. */
export function otherWorkspaces({ id }: Pick<Agent, "id">, directory: Pick<Directory, "agents">): string[] {
  return directory.agents().flatMap((agent) => (agent.id !== id && agent.workspace !== null ? [agent.workspace] : []));
}

const shared = (path: string, other: string, holder: string): TielineError =>
  new TielineError(
    "CONFLICT",
    path === other
      ? `${path} is already the workspace of ${holder}`
      : `${path} overlaps ${other}, the workspace of ${holder}`,
    {
      remedy: "give each agent a directory of its own",
      operands: { workspace: path, holder },
    },
  );
