import { userName } from "../../model/agent.ts";
import { anyone } from "../topology/edge.ts";
import { isUnbound, outEdges, type Party } from "../topology/topology.ts";
import { isSystemObjectName, type Lookups } from "./rules.ts";

/** Whom a participant can write to by name: who is there, and who could be. The user can always be written to. */
export function reachableNames(party: Party, { roster, topology }: Pick<Lookups, "roster" | "topology">): string[] {
  const ours = topology(party.team);
  const edges = outEdges(ours, party);
  const everyone = edges === null || edges.some(({ to }) => to === anyone);
  const team = (): string[] => [
    ...ours.declared,
    ...roster
      .inTeam(party.team)
      .filter((one) => !isUnbound(one))
      .map(({ name }) => name),
  ];
  const names = new Set([...(edges ?? []).map(({ to }) => to), ...(everyone ? team() : [])]);
  return [...names].filter(
    (name) => name !== party.name && name !== anyone && name !== userName && !isSystemObjectName(name),
  );
}
