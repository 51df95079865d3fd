import type { Client } from "../client/client.ts";
import { longestPollMs } from "../api/operations.ts";
import type { DeliveryView, ReceiptView, StoryView } from "../api/schema.ts";
import { TielineError } from "../model/errors.ts";
import { deadlineIn } from "../os/deadline.ts";
import { isUnread, reached, type Wanted } from "../model/receipt.ts";
import { deliveryLine, receiptLines, recipientIn } from "./receipts.ts";
import { exitCodeOf } from "./sending.ts";
import { errorText, type Terminal } from "./terminal.ts";
import { span } from "./times.ts";

export interface Following {
  readonly daemon: Client;
  readonly terminal: Terminal;
  readonly json: boolean;
  readonly timeoutMs: number;
}

/** Shows every change until the message has got as far as wanted for everybody, or cannot any more. */
export async function follow(
  receipt: ReceiptView,
  wanted: Wanted,
  { daemon, terminal, json, timeoutMs }: Following,
): Promise<number> {
  const deadline = deadlineIn(timeoutMs);
  const show = json ? silent : liveLines(terminal);
  let story: StoryView = { ...receipt, answers: null, history: [] };
  await show.change(story);
  for (let left = deadline.leftMs(); left > 0 && pending(story, wanted); left = deadline.leftMs()) {
    const poll = {
      tag: receipt.tag,
      state: wanted,
      timeoutMs: Math.min(left, longestPollMs),
      after: lastChangeAt(story),
    };
    const next = await daemon.call("wait", poll);
    const changed = lastChangeAt(next) !== lastChangeAt(story);
    story = { ...receipt, ...next };
    if (changed) await show.change(story);
  }
  const error = shortfall(story, wanted);
  if (json) await terminal.json(error ? { ...story, error } : story);
  else await show.end(story, error);
  return error ? error.exitCode : exitCodeOf(story);
}

function lastChangeAt(story: ReceiptView): number {
  return Math.max(story.acceptedAt, ...story.deliveries.map((delivery) => delivery.updatedAt));
}

const dead: readonly DeliveryView["state"][] = ["failed", "expired", "cancelled"];

/** One that never can get there decides for all, since waiting longer would not change the answer. */
function pending({ deliveries }: ReceiptView, wanted: Wanted): boolean {
  const results = deliveries.map((delivery) => reached(delivery, wanted));
  return results.includes("not yet") && !results.includes("never");
}

const isDead = ({ state, answeredAt }: DeliveryView): boolean => answeredAt === null && dead.includes(state);

function shortfall(story: StoryView, wanted: Wanted): TielineError | null {
  const fallShort = (result: string) => story.deliveries.find((delivery) => reached(delivery, wanted) === result);
  const short = fallShort("never") ?? fallShort("not yet");
  if (!short) return null;
  const why = short.reason === null ? "" : `: ${short.reason}`;
  const agent = recipientIn(story, short);
  const details = {
    remedy: `\`tieline status ${story.tag}\` tells the whole story`,
    operands: { tag: story.tag, agent, state: short.state },
  };
  if (short.state === "expired")
    return new TielineError("EXPIRED", `${story.tag} expired before ${agent} had it${why}`, details);
  if (isDead(short))
    return new TielineError("DELIVERY_FAILED", `${story.tag} to ${agent} is ${short.state}${why}`, details);
  if (isUnread(short))
    return new TielineError(
      "NOT_READ",
      `${story.tag} was delivered to ${agent}, but not read: ${short.warning}`,
      details,
    );
  const waits =
    short.state === "queued"
      ? {
          ...details,
          remedy:
            `${details.remedy}; it is kept and delivered when it can be, unless \`tieline cancel ` +
            `${story.tag}\` takes it back`,
        }
      : details;
  return new TielineError(
    "NOT_IN_TIME",
    `${story.tag} to ${agent} is ${short.state}, not ${wanted}, after ${span(Date.now() - story.acceptedAt)}${why}`,
    waits,
  );
}

interface Live {
  change(story: StoryView): Promise<void>;
  end(story: StoryView, error: TielineError | null): Promise<void>;
}

const silent: Live = { change: async () => {}, end: async () => {} };

/** On a terminal the lines change in place; elsewhere every change is a line of its own. */
function liveLines(terminal: Terminal): Live {
  let drawn = 0;
  const printed = new Map<string, string>();

  async function redraw(story: StoryView): Promise<void> {
    drawn = await terminal.redraw(receiptLines(story, terminal.paint, Date.now()), drawn);
  }

  async function append(story: StoryView): Promise<void> {
    for (const delivery of story.deliveries) {
      const version =
        `${delivery.state} ${delivery.reason} ${delivery.proof} ${delivery.warning} ` +
        `${delivery.notes.map(({ text }) => text).join()}`;
      if (printed.get(delivery.agentId) === version) continue;
      printed.set(delivery.agentId, version);
      await terminal.print(deliveryLine(story, delivery, terminal.paint, Date.now()));
    }
  }

  return {
    change: terminal.interactive ? redraw : append,
    async end(story, error) {
      if (terminal.interactive) await redraw(story);
      for (const { agent, code, message } of terminal.interactive ? [] : (story.failed ?? []))
        await terminal.print(`✗ ${agent}   refused, ${code}: ${message}`);
      if (error) await terminal.complain(errorText(error));
    },
  };
}
