/**
 * `tick`: a clock to subscribe to by message. Ticks never pile up: while one is still on its way to a subscriber, the
 * next ones are left out, and the one that follows says how many it missed. A tick starts no agent.
 */
import { z } from "zod";
import { fraction, systemClock } from "../../model/ids.ts";
import { Refusal, type ObjectApi, type ObjectHandler } from "../handler.ts";
import type { BuiltinParts } from "./parts.ts";
import { systemTimers, type Scheduled } from "../../os/timers.ts";

const interval = z
  .int()
  .min(100)
  .max(7 * 24 * 3_600_000);
const jitter = z
  .int()
  .min(0)
  .max(7 * 24 * 3_600_000);

export const TickOptions = z.strictObject({
  intervalMs: interval.default(60_000),
  jitterMs: jitter.default(0),
});

const Request = z.discriminatedUnion("action", [
  z.object({ action: z.literal("subscribe"), intervalMs: interval.optional(), jitterMs: jitter.optional() }),
  z.object({ action: z.literal("unsubscribe") }),
]);
const usage = '{"action":"subscribe","intervalMs":60000,"jitterMs":0} · {"action":"unsubscribe"} (or the bare word)';

interface Subscription {
  readonly id: string;
  readonly name: string;
  readonly intervalMs: number;
  readonly jitterMs: number;
}

/** What is known of a subscriber while the clock runs. */
interface Course {
  readonly subscription: Subscription;
  timer: Scheduled | null;
  count: number;
  missed: number;
  lastTick: string | null;
}

/** Refusals after which there is no subscriber. */
const gone = ["ADDRESS_UNKNOWN", "TARGET_NOT_FOUND", "ROUTE_DENIED"];

export function tick(parts: BuiltinParts): ObjectHandler {
  const { memory, undelivered, clock = systemClock, timers = systemTimers, random } = parts;
  const courses = new Map<string, Course>();
  let api: ObjectApi;
  let defaults: z.output<typeof TickOptions>;

  const save = (): void => memory.save([...courses.values()].map(({ subscription }) => subscription));

  function follow(subscription: Subscription): void {
    stop(subscription.id);
    const course: Course = { subscription, timer: null, count: 0, missed: 0, lastTick: null };
    courses.set(subscription.id, course);
    plan(course);
  }

  function stop(id: string): void {
    courses.get(id)?.timer?.cancel();
    courses.delete(id);
  }

  function plan(course: Course): void {
    const { intervalMs, jitterMs } = course.subscription;
    const delayMs = Math.max(1, intervalMs + Math.round((fraction(random) * 2 - 1) * jitterMs));
    course.timer = timers.after(delayMs, () => void beat(course));
  }

  async function beat(course: Course): Promise<void> {
    course.count++;
    if (course.lastTick !== null && undelivered(course.lastTick)) course.missed++;
    else await send(course);
    if (courses.get(course.subscription.id) === course) plan(course);
  }

  async function send(course: Course): Promise<void> {
    const { id, name } = course.subscription;
    const body = { action: "tick", tick: course.count, missed: course.missed, at: new Date(clock()).toISOString() };
    try {
      const accepted = await api.send(id, JSON.stringify(body), { spawn: false });
      course.lastTick = accepted.id;
      course.missed = 0;
    } catch (thrown) {
      api.log(`no tick for ${name}: ${(thrown as Error).message}`);
      if (!gone.includes(String((thrown as { code?: unknown }).code))) return;
      stop(id);
      save();
    }
  }

  return {
    interface: usage,

    init(given, options) {
      api = given;
      defaults = TickOptions.parse(options);
      for (const subscription of (memory.load() ?? []) as Subscription[]) follow(subscription);
    },

    async onMessage(from, content, { message, reply }) {
      const request = requestIn(content);
      if (request.action === "subscribe") {
        const { intervalMs = defaults.intervalMs, jitterMs = defaults.jitterMs } = request;
        if (jitterMs > intervalMs) throw new Refusal("the jitter cannot be longer than the interval");
        follow({ id: message.fromId, name: from, intervalMs, jitterMs });
        save();
        await reply(JSON.stringify({ action: "subscribed", intervalMs, jitterMs }));
      } else {
        stop(message.fromId);
        save();
        await reply(JSON.stringify({ action: "unsubscribed" }));
      }
    },

    close() {
      for (const id of [...courses.keys()]) stop(id);
    },
  };
}

function requestIn(content: string): z.output<typeof Request> {
  const word = content.trim();
  try {
    return Request.parse(word.startsWith("{") ? JSON.parse(word) : { action: word });
  } catch {
    throw new Refusal(`tick takes ${usage}`);
  }
}
