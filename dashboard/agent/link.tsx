import type { VNode } from "preact";
import { linkTo } from "../route.ts";
import { addressOf, agentAt } from "./names.ts";

export interface AgentLinkProps {
  readonly name: string;
  /** Null: not known, as for the user and for agents that were removed. */
  readonly team: string | null;
}

/** A name that leads to the page of its agent, where there is one. */
export function AgentLink({ name, team }: AgentLinkProps): VNode {
  const cell = team === null ? null : agentAt(addressOf({ team, name }));
  if (cell === null) return <span class="agent-name">{name}</span>;
  return (
    <a class="agent-name" href={linkTo("agents", addressOf(cell.view.value))}>
      {name}
    </a>
  );
}
