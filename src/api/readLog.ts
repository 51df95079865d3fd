import type { LogFilter, Mailbox } from "../mailbox/port.ts";
import type { Sender } from "../model/message.ts";
import type { Receipt } from "../model/receipt.ts";
import type { Rights } from "./rights.ts";

const defaultLimit = 50;
const mostScanned = 1_000;

/** The newest messages that the caller may read, newest last: those of everyone whom it may read, each once. */
export function readLog(
  mailbox: Pick<Mailbox, "log">,
  rights: Rights,
  from: Sender,
  filter: LogFilter,
): readonly Receipt[] {
  if (rights.readsEverything(from)) return mailbox.log(filter);
  const { agent, limit = defaultLimit, ...rest } = filter;
  if (agent !== undefined && rights.reads(from, agent)) return mailbox.log(filter);
  const isAbout = ({ message, deliveries }: Receipt): boolean =>
    agent === undefined || message.from.id === agent || deliveries.some((one) => one.agent === agent);
  // About one whom it may not read, it sees what passed between the two.
  const scanned = agent === undefined ? limit : Math.max(limit, mostScanned);
  const found = rights.readable(from).flatMap((id) => mailbox.log({ ...rest, agent: id, limit: scanned }));
  const unique = new Map(found.filter(isAbout).map((receipt) => [receipt.message.id, receipt]));
  return [...unique.values()].toSorted((a, b) => (a.message.id < b.message.id ? -1 : 1)).slice(-limit);
}
