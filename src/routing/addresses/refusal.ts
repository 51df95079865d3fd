import { formatAddress } from "../../model/address.ts";
import { type Agent, isLive, userId, userName } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import { mentions } from "../topology/check.ts";
import { type Asker, isSystemObjectName, type Lookups, type SingleAddress } from "./rules.ts";

export function ambiguous(address: SingleAddress, asker: Asker, hits: readonly Agent[]): TielineError {
  const candidates = hits.map((agent) => (agent.team === asker.team ? agent.name : `${agent.team}:${agent.name}`));
  return new TielineError(
    "ADDRESS_AMBIGUOUS",
    `${formatAddress(address)} could be ${candidates.slice(0, -1).join(", ")} or ${candidates.at(-1)}`,
    {
      remedy: "write to one of them by its own name, or to all of them with an alias",
      operands: { address: formatAddress(address), candidates },
    },
  );
}

/** Nothing was found: either the name is known and nothing is there, or it is a slip. */
export function notFound(address: SingleAddress, asker: Asker, lookups: Lookups): TielineError {
  if (address.kind === "pane") return unknownPane(address);
  const team = address.team ?? asker.team;
  const { name } = address;
  if (isSystemObjectName(name)) {
    return nothingThere(`team ${team} has no ${name} object`, `add ${name} under objects: in tieline.yaml`, address);
  }
  if (lookups.profile(team, name)?.autostart === false && team === asker.team) {
    const message = `${name} is not running, and its profile does not let mail start it`;
    return nothingThere(message, `start it with \`tieline spawn ${name}\``, address);
  }
  const label = team === asker.team ? name : `${team}:${name}`;
  if (mentions(lookups.topology(asker.team), label)) {
    const message = `the topology names ${label}, but no agent, profile or role of that name exists`;
    return nothingThere(message, `start or adopt ${label}, or add it under agents: in tieline.yaml`, address);
  }
  return unknownName(team, name, address, asker, lookups);
}

export function unknownTeam(team: string, teams: Iterable<string>): TielineError {
  const near = nearNames(team, teams);
  return new TielineError("ADDRESS_UNKNOWN", `there is no team "${team}"${didYouMean(near)}`, {
    remedy: "`tieline team ls` lists the teams; `tieline team create` makes one",
    operands: { team, near },
  });
}

export function unknownGroup(
  name: string,
  asker: Asker,
  teams: Iterable<string>,
  aliases: Iterable<string>,
): TielineError {
  const near = nearNames(name, [...teams, ...aliases, "all"]).map((found) => `@${found}`);
  return new TielineError("ADDRESS_UNKNOWN", `team ${asker.team} knows no team or alias "${name}"${didYouMean(near)}`, {
    remedy: "`tieline team ls` lists the teams; aliases are in tieline.yaml",
    operands: { address: `@${name}`, near },
  });
}

function unknownName(team: string, name: string, address: SingleAddress, asker: Asker, lookups: Lookups): TielineError {
  if (team !== asker.team && lookups.roster.inTeam(team).length === 0) {
    const near = nearNames(team, lookups.roster.teams());
    const message = `there is no agent in a team "${team}"${didYouMean(near)}`;
    return unknown(message, address, near, "`tieline ls --all` shows every team");
  }
  const near = [
    ...(team === asker.team ? namesakes(name, asker, lookups) : []),
    ...nearNames(name, namesIn(team, asker, lookups)),
  ];
  return unknown(
    `no agent "${name}" in team ${team}${didYouMean(near)}`,
    address,
    near,
    whereToLook(team, asker, lookups),
  );
}

/** The user may be outside the project: the team is empty, and agents run in others. */
function whereToLook(team: string, asker: Asker, { roster }: Lookups): string {
  const others = roster
    .teams()
    .filter((one) => one !== team)
    .flatMap((one) => roster.inTeam(one))
    .filter((agent) => agent.kind === "program" && isLive(agent));
  if (asker.id !== userId || others.length === 0 || roster.inTeam(team).length > 0)
    return "`tieline ls` lists the agents";
  return `\`tieline ls --all\` lists the agents of other teams (${others.length} running)`;
}

/** Those of exactly this name in other teams. */
function namesakes(name: string, asker: Asker, { roster }: Lookups): string[] {
  return roster
    .teams()
    .filter((team) => team !== asker.team && roster.named(team, name) !== null)
    .map((team) => `${team}:${name}`);
}

function unknownPane(address: SingleAddress & { kind: "pane" }): TielineError {
  const remedy = `\`tieline adopt ${address.pane} --name NAME\` makes its program an agent`;
  return unknown(`no agent lives in pane ${address.pane}`, address, [], remedy);
}

function* namesIn(team: string, asker: Asker, lookups: Lookups): Iterable<string> {
  yield userName;
  for (const agent of lookups.roster.inTeam(team)) {
    if (agent.id === asker.id) continue;
    yield agent.name;
    if (agent.role !== null) yield agent.role;
  }
  if (team === asker.team) yield* lookups.profileNames(team);
  yield* lookups.nativeNames?.() ?? [];
}

function unknown(message: string, address: SingleAddress, near: readonly string[], remedy: string): TielineError {
  return new TielineError("ADDRESS_UNKNOWN", message, { remedy, operands: { address: formatAddress(address), near } });
}

function nothingThere(message: string, remedy: string, address: SingleAddress): TielineError {
  return new TielineError("TARGET_NOT_FOUND", message, { remedy, operands: { address: formatAddress(address) } });
}
