import { kept } from "./kept.ts";

/** Times are shown with seconds. */
export const withSeconds = kept("seconds", false);

const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit" });
const clockWithSeconds = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const exact = new Intl.DateTimeFormat(undefined, {
  hour: "2-digit",
  minute: "2-digit",
  second: "2-digit",
  fractionalSecondDigits: 3,
});
const fullDay = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const day = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "short" });

export function timeOf(at: number, now = Date.now()): string {
  const isToday = new Date(at).toDateString() === new Date(now).toDateString();
  const time = (withSeconds.value ? clockWithSeconds : clock).format(at);
  return isToday ? time : `${day.format(at)} ${time}`;
}

/** When a queued message is delivered. */
export const whenWords = {
  turn: "when idle",
  tool: "after its tool",
  interrupt: "before its next tool",
} as const;

export const exactDate = (at: number): string => `${fullDay.format(at)} ${exact.format(at)}`;

export const exactTime = (at: number): string => exact.format(at);

/** How long ago, for ages that need no precision. */
export const age = (ms: number): string => (ms < 20_000 ? "just now" : `${span(ms)} ago`);

export function span(ms: number): string {
  if (ms < 1_000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 10_000) return `${Math.round(ms / 100) / 10} s`;
  if (ms < 60_000) return `${Math.round(ms / 1_000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}
