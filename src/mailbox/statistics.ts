/**
 * What a mailbox counts as it happens, per minute, hour and day, so that charts of a long history read few rows. Counts
 * are stored with the change that they count, in one commit, and stay when their messages are pruned.
 */
import type { DeliveryState, Transition } from "../model/delivery.ts";
import type { AgentId } from "../model/ids.ts";
import type { Message } from "../model/message.ts";

/**
 * `accepted` has no label. `edge`: the sender's and the recipient's id. `delivered` and `seen`: the transport, with
 * the time since acceptance. `held`: the reason. `state`: the state that a delivery came to, and the transport.
 */
export const measures = ["accepted", "edge", "delivered", "seen", "held", "state"] as const;
export type Measure = (typeof measures)[number];

export const minuteMs = 60_000;
export const hourMs = 3_600_000;
export const dayMs = 86_400_000;
export type BucketSize = typeof minuteMs | typeof hourMs | typeof dayMs;
/** Minutes are for charts of the last hours; after this only hours and days are left. */
export const minutesKeptMs = 48 * hourMs;
/** There are many edges, so a long range is summed over days. */
export const bucketSizesOf = (measure: Measure): readonly BucketSize[] =>
  measure === "edge" ? [minuteMs, hourMs, dayMs] : [minuteMs, hourMs];

export interface Tally {
  readonly measure: Measure;
  readonly at: number;
  readonly team: string;
  readonly label: string;
  /** A duration, as `boundOf` has it; 0 where there is none. */
  readonly bound: number;
}

export interface TallyQuery {
  readonly measure: Measure;
  readonly size: BucketSize;
  /** A multiple of `size`. */
  readonly since: number;
  readonly until: number;
  /** How much time one bucket covers, a multiple of `size`; null: all in one. */
  readonly step: number | null;
  readonly team?: string;
}

export interface TallySum {
  /** How many steps after `since`. */
  readonly bucket: number;
  readonly label: string;
  readonly bound: number;
  readonly count: number;
}

/** Bounds are 12 % apart: durations are rounded up to the next one. */
const boundsPerDecade = 20;
export const boundOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(boundsPerDecade * Math.log10(ms)));
export const durationOf = (bound: number): number => 10 ** (bound / boundsPerDecade);

/** Labels with two parts are separated by what neither ids nor names of states and transports contain. */
export const labelOf = (...parts: readonly string[]): string => parts.join("\n");
export const partsOf = (label: string): readonly string[] => label.split("\n");

export const acceptedTally = ({ acceptedAt, team }: Pick<Message, "acceptedAt" | "team">): Tally => ({
  ...{ measure: "accepted", at: acceptedAt, team, label: "", bound: 0 },
});

export interface Counted {
  readonly transition: Pick<Transition, "verb" | "at" | "from" | "to" | "reason" | "transport">;
  readonly agent: AgentId;
  readonly message: Pick<Message, "team" | "acceptedAt"> & { readonly from: { readonly id: AgentId } };
}

const arrived: readonly DeliveryState[] = ["delivered", "seen", "answered"];
const seen: readonly DeliveryState[] = ["seen", "answered"];
const counted: readonly DeliveryState[] = [...arrived, "uncertain", "failed", "expired", "cancelled"];

export function talliesOf({ transition, agent, message }: Counted): Tally[] {
  const { verb, at, from, to, reason, transport } = transition;
  const { team } = message;
  const tallies: Tally[] = [];
  const add = (measure: Measure, label: string, bound = 0): void =>
    void tallies.push({ measure, at, team, label, bound });
  if (verb === "accept") add("edge", labelOf(message.from.id, agent));
  if (to === "queued" && reason !== null) add("held", reason);
  if (from === to) return tallies;
  const came = (states: readonly DeliveryState[]): boolean =>
    states.includes(to) && (from === null || !states.includes(from));
  const took = boundOf(at - message.acceptedAt);
  if (came(arrived)) add("delivered", transport ?? "", took);
  if (came(seen)) add("seen", transport ?? "", took);
  if (counted.includes(to)) add("state", labelOf(to, transport ?? ""));
  return tallies;
}

/** One bucket's share of a batch. */
export interface TallyCount extends Tally {
  readonly size: BucketSize;
  readonly count: number;
}

/** The tallies of a batch in each size of buckets, each bucket once. `at` is the beginning of the bucket. */
export class TallyBatch {
  private readonly rows = new Map<string, TallyCount>();

  add(tallies: readonly Tally[]): void {
    for (const tally of tallies) for (const size of bucketSizesOf(tally.measure)) this.put(tally, size);
  }

  /** Everything that was added since the last call. */
  take(): TallyCount[] {
    const rows = [...this.rows.values()];
    this.rows.clear();
    return rows;
  }

  private put(tally: Tally, size: BucketSize): void {
    const at = Math.floor(tally.at / size) * size;
    const { measure, team, label, bound } = tally;
    const key = `${size} ${measure} ${at} ${bound} ${team} ${label}`;
    this.rows.set(key, { ...tally, at, size, count: (this.rows.get(key)?.count ?? 0) + 1 });
  }
}
