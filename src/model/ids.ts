declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

export type MessageId = Branded<string, "MessageId">;
export type Tag = Branded<string, "Tag">;
export type AgentId = Branded<string, "AgentId">;
/** A delivery's number in its mailbox; later accepts have higher numbers. */
export type DeliveryId = Branded<number, "DeliveryId">;

/** Where all ids and all chance come from. A test that gives one seed decides them all. */
export type RandomBytes = (count: number) => Uint8Array;
/** Wall time, for what people see and what must outlive the process. It can be set, forward and back. */
export interface Clock {
  (): number;
  /** For durations. A clock without one, as in a test, has to do itself. */
  readonly elapsed?: Elapsed;
}
/** Milliseconds that only ever go forward, for every duration inside a process. They begin anywhere. */
export type Elapsed = () => number;

export const systemElapsed: Elapsed = () => performance.now();
export const systemClock: Clock = Object.assign(() => Date.now(), { elapsed: systemElapsed });

/** What measures the durations of someone who was given this clock. */
export const elapsedFor = (clock: Clock = systemClock): Elapsed => clock.elapsed ?? clock;
export const systemRandom: RandomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

export const agentId = (text: string): AgentId => text as AgentId;
export const deliveryId = (value: number): DeliveryId => value as DeliveryId;

/** From 0 to below 1. */
export function fraction(random: RandomBytes = systemRandom): number {
  return random(6).reduceRight((rest, byte) => (rest + byte) / 256, 0);
}

/** UUIDv4: random. */
export function uuidv4(random: RandomBytes = systemRandom): string {
  const bytes = random(16);
  bytes[6] = (bytes[6]! & 0x0f) | 0x40;
  return uuidOf(bytes);
}

/** UUIDv7: the first 48 bits are the time, the rest is random, so that ids sort by the moment they were made. */
export function uuidv7(nowMs: number, random: RandomBytes = systemRandom): string {
  const bytes = random(16);
  let time = nowMs;
  for (let i = 5; i >= 0; i--) {
    bytes[i] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = (bytes[6]! & 0x0f) | 0x70;
  return uuidOf(bytes);
}

function uuidOf(bytes: Uint8Array): string {
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The name by which people and programs refer to a message: its sender, and the random tail of its id. */
export function tagOf(senderName: string, id: string): Tag {
  return `MSG_${senderName.toUpperCase().replaceAll("-", "_")}_${id.slice(-8)}` as Tag;
}

const tagPattern = /^MSG_[A-Z0-9_]+_[0-9a-f]{8}$/;

export function isTag(text: string): text is Tag {
  return tagPattern.test(text);
}
