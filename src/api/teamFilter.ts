import type { Directory } from "../agents/directory/directory.ts";
import type { Teams } from "../agents/teams.ts";
import type { LogFilter, Mailbox } from "../mailbox/port.ts";
import type { AgentId } from "../model/ids.ts";
import type { Receipt } from "../model/receipt.ts";

export interface TeamFilterParts {
  readonly teams: Pick<Teams, "mustExist">;
  readonly directory: Pick<Directory, "roster">;
  readonly mailbox: Pick<Mailbox, "log">;
}

export type TeamFilter = NonNullable<LogFilter["team"]>;

/**
 * A team and its agents, for lists. A disbanded team is known by its messages; any other unknown name is
 * ADDRESS_UNKNOWN.
 */
export const teamFilterOf =
  ({ teams, directory, mailbox }: TeamFilterParts) =>
  (name: string): TeamFilter => {
    const members: readonly AgentId[] = directory.roster.inTeam(name).map(({ id }) => id);
    const filter = { name, members };
    if (mailbox.log({ team: filter, limit: 1 }).length === 0) teams.mustExist(name);
    return filter;
  };

export const isOfTeam = ({ message, deliveries }: Receipt, { name, members }: TeamFilter): boolean =>
  message.team === name || members.includes(message.from.id) || deliveries.some(({ agent }) => members.includes(agent));
