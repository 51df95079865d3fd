import { TielineError } from "../../model/errors.ts";
import { systemClock, type Clock } from "../../model/ids.ts";

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

const durationPattern = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)?$/;

/** The longest time that makes sense as one: the same as a message may live. */
const mostDays = 366;
/** How far back the past goes. */
const mostPastDays = 36_500;

/** `500ms`, `5s`, `2m`, `1h`, `7d`; a plain number is seconds. */
export function durationMs(text: string, what = "duration", days = mostDays): number {
  const match = durationPattern.exec(text);
  if (!match) {
    throw new TielineError("USAGE", `${what}: ${JSON.stringify(text)} is not a duration`, {
      remedy: "write 500ms, 5s, 2m, 1h or 7d; a plain number is seconds",
    });
  }
  const ms = Math.round(Number(match[1]) * unitMs[match[2] ?? "s"]!);
  if (ms <= days * unitMs["d"]!) return ms;
  throw new TielineError("USAGE", `${what}: ${text} is too long; the range is 0 to ${days}d`, {
    remedy: `write at most ${days}d`,
  });
}

/** As `durationMs`, for what would make no sense at once. */
export function positiveDurationMs(text: string, what = "duration", days = mostDays): number {
  const ms = durationMs(text, what, days);
  if (ms > 0) return ms;
  throw new TielineError("USAGE", `${what}: a duration of zero makes no sense here`, {
    remedy: "write 500ms, 5s, 2m, 1h or 7d",
  });
}

/** How a moment in the past is written. */
export const momentForms = "2h or 1d ago, or a date such as 2026-11-15T16:00";

/**
 * A moment in the past: so long ago (`2h`), or a date with or without a time, which is local unless it says otherwise.
 */
export function pastMoment(text: string, what = "time", clock: Clock = systemClock): number {
  if (durationPattern.test(text)) return clock() - positiveDurationMs(text, what, mostPastDays);
  // What begins otherwise is read by JavaScript with more good will than sense.
  const at = /^\d{4}-/.test(text) ? Date.parse(/^\d{4}-\d{2}-\d{2}$/.test(text) ? `${text}T00:00` : text) : NaN;
  if (!Number.isNaN(at)) return at;
  throw new TielineError("USAGE", `${what}: ${JSON.stringify(text)} is not a time`, {
    remedy: "write 10m, 2h or 1d for so long ago, or a date: 2026-11-15, 2026-11-15T16:00",
  });
}

export function count(text: string, what = "number"): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new TielineError("USAGE", `${what}: ${JSON.stringify(text)} is not a whole number`, {
    remedy: `write ${what} 20`,
  });
}

/** For people: 19 ms, 0.3 s, 12 s, 4 min, 2 h, 3 d. */
export function span(ms: number): string {
  const seconds = Math.max(0, ms) / 1000;
  if (seconds < 0.1) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 120) return `${Math.round(seconds)} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  if (seconds < 172_800) return `${Math.round(seconds / 3600)} h`;
  return `${Math.round(seconds / 86_400)} d`;
}

/** ISO-8601 in UTC. A time that no calendar has stays a number: one strange message must not hide the others. */
export function isoTime(at: number): string | number {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : date.toISOString();
}

/** The time of day where the user is; with the date when it is not today's. */
export function clockTime(at: number, now: number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return "never";
  const time = [date.getHours(), date.getMinutes(), date.getSeconds()]
    .map((part) => String(part).padStart(2, "0"))
    .join(":");
  return date.toDateString() === new Date(now).toDateString() ? time : `${dayOf(date)} ${time}`;
}

function dayOf(date: Date): string {
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()]
    .map((part) => String(part).padStart(2, "0"))
    .join("-");
}
