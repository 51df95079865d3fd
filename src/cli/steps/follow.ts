import type { Client } from "../../client/client.ts";
import { longestPollMs } from "../../api/wire.ts";
import type { DeliveryView, ReceiptView, HistoryView } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { deadlineIn } from "../../os/deadline.ts";
import { isUnread, reached, type Wanted } from "../../model/receipt.ts";
import { deliveryLine, receiptLines, recipientIn } from "../output/receipts.ts";
import { exitCodeOf } from "./sending.ts";
import { errorText, type Terminal } from "../output/terminal.ts";
import { span } from "../input/times.ts";

export interface Following {
  readonly daemon: Client;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly timeoutMs: number;
}

/** Shows every change until the message has reached the wanted state for all recipients, or no longer can. */
export async function follow(
  receipt: ReceiptView,
  wanted: Wanted,
  { daemon, terminal, json, timeoutMs }: Following,
): Promise<number> {
  const deadline = deadlineIn(timeoutMs);
  const show = json ? silent : liveLines(terminal);
  let history: HistoryView = { ...receipt, answers: null, steps: [] };
  await show.change(history);
  for (let left = deadline.leftMs(); left > 0 && pending(history, wanted); left = deadline.leftMs()) {
    const poll = {
      tag: receipt.tag,
      state: wanted,
      timeoutMs: Math.min(left, longestPollMs),
      after: lastChangeAt(history),
    };
    const next = await daemon.call("wait", poll);
    const changed = lastChangeAt(next) !== lastChangeAt(history);
    history = { ...receipt, ...next };
    if (changed) await show.change(history);
  }
  const error = shortfall(history, wanted, terminal.now());
  if (json) await terminal.json(error ? { ...history, error } : history);
  else await show.end(history, error);
  return error ? error.exitCode : exitCodeOf(history);
}

function lastChangeAt(history: ReceiptView): number {
  return Math.max(history.acceptedAt, ...history.deliveries.map((delivery) => delivery.updatedAt));
}

const dead: readonly DeliveryView["state"][] = ["failed", "expired", "cancelled"];

/** One that never can get there decides for all, since waiting longer would not change the answer. */
function pending({ deliveries }: ReceiptView, wanted: Wanted): boolean {
  const results = deliveries.map((delivery) => reached(delivery, wanted));
  return results.includes("not yet") && !results.includes("never");
}

const isDead = ({ state, answeredAt }: DeliveryView): boolean => answeredAt === null && dead.includes(state);

function shortfall(history: HistoryView, wanted: Wanted, now: number): TielineError | null {
  const fallShort = (result: string) => history.deliveries.find((delivery) => reached(delivery, wanted) === result);
  const short = fallShort("never") ?? fallShort("not yet");
  if (!short) return null;
  const why = short.reason === null ? "" : `: ${short.reason}`;
  const agent = recipientIn(history, short);
  const details = {
    remedy: `\`tieline status ${history.tag}\` shows its history`,
    operands: { tag: history.tag, agent, state: short.state },
  };
  if (short.state === "expired")
    return new TielineError("EXPIRED", `${history.tag} expired before ${agent} had it${why}`, details);
  if (isDead(short))
    return new TielineError("DELIVERY_FAILED", `${history.tag} to ${agent} is ${short.state}${why}`, details);
  if (isUnread(short))
    return new TielineError(
      "NOT_READ",
      `${history.tag} was delivered to ${agent}, but not read: ${short.warning}`,
      details,
    );
  const waits =
    short.state === "queued"
      ? {
          ...details,
          remedy:
            `${details.remedy}; it is kept and delivered when it can be, unless \`tieline cancel ` +
            `${history.tag}\` takes it back`,
        }
      : details;
  return new TielineError(
    "NOT_IN_TIME",
    `${history.tag} to ${agent} is ${short.state}, not ${wanted}, after ${span(now - history.acceptedAt)}${why}`,
    waits,
  );
}

interface Live {
  change(history: HistoryView): Promise<void>;
  end(history: HistoryView, error: TielineError | null): Promise<void>;
}

const silent: Live = { change: async () => {}, end: async () => {} };

/** On a terminal the lines change in place; elsewhere every change is a line of its own. */
function liveLines(terminal: Terminal): Live {
  let drawn = 0;
  const printed = new Map<string, string>();

  async function redraw(history: HistoryView): Promise<void> {
    drawn = await terminal.redraw(receiptLines(history, terminal.paint, terminal.now()), drawn);
  }

  async function append(history: HistoryView): Promise<void> {
    for (const delivery of history.deliveries) {
      const version =
        `${delivery.state} ${delivery.reason} ${delivery.proof} ${delivery.warning} ` +
        `${delivery.notes.map(({ text }) => text).join()}`;
      if (printed.get(delivery.agentId) === version) continue;
      printed.set(delivery.agentId, version);
      await terminal.print(deliveryLine(history, delivery, terminal.paint, terminal.now()));
    }
  }

  return {
    change: terminal.interactive ? redraw : append,
    async end(history, error) {
      if (terminal.interactive) await redraw(history);
      for (const { agent, code, message } of terminal.interactive ? [] : (history.failed ?? []))
        await terminal.print(`✗ ${agent}   refused, ${code}: ${message}`);
      if (error) await terminal.complain(errorText(error));
    },
  };
}
