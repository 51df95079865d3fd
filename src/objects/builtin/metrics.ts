/** `metrics`: keeps the last state that each agent reported, and counters that any agent may raise. */
import { z } from "zod";
import { systemClock } from "../../model/ids.ts";
import { Refusal, type ObjectHandler } from "../handler.ts";
import type { BuiltinParts } from "./parts.ts";
import { systemTimers, type Scheduled } from "../../os/timers.ts";

export interface MetricsSnapshot {
  /** By the name of who reported. */
  readonly reports: Readonly<Record<string, StateReport>>;
  readonly counters: Readonly<Record<string, number>>;
}

export interface StateReport {
  readonly data: unknown;
  readonly reportedAt: number;
  /** How often it reported in all. */
  readonly count: number;
}

export interface MetricsObject extends ObjectHandler {
  snapshot(): MetricsSnapshot;
}

const Request = z.discriminatedUnion("action", [
  z.object({ action: z.literal("state_report"), data: z.unknown() }),
  z.object({ action: z.literal("count"), name: z.string().min(1).max(200), by: z.number().default(1) }),
  z.object({ action: z.literal("get") }),
]);
const usage = '{"action":"state_report","data":…} · {"action":"count","name":"builds","by":1} · {"action":"get"}';

/** Endless reports must not fill the daemon's memory. */
const maxDataBytes = 64 * 1024;
const maxEntries = 10_000;
const saveAfterMs = 1_000;

export function metrics({ memory, clock = systemClock, timers = systemTimers }: BuiltinParts): MetricsObject {
  const remembered = (memory.load() ?? { reports: {}, counters: {} }) as MetricsSnapshot;
  const reports = new Map(Object.entries(remembered.reports));
  const counters = new Map(Object.entries(remembered.counters));
  let saving: Scheduled | null = null;

  const snapshot = (): MetricsSnapshot => ({
    reports: Object.fromEntries(reports),
    counters: Object.fromEntries(counters),
  });

  function save(): void {
    saving?.cancel();
    saving = null;
    memory.save(snapshot());
  }

  return {
    interface: usage,
    snapshot,

    async onMessage(from, content, api) {
      const request = requestIn(content);
      if (request.action === "get") return void (await api.reply(JSON.stringify(snapshot())));
      if (request.action === "state_report") {
        if (content.length > maxDataBytes)
          throw new Refusal(`a report may have ${maxDataBytes} characters, not ${content.length}`);
        makeRoom(reports, from);
        reports.set(from, { data: request.data, reportedAt: clock(), count: (reports.get(from)?.count ?? 0) + 1 });
      } else {
        makeRoom(counters, request.name);
        counters.set(request.name, (counters.get(request.name) ?? 0) + request.by);
      }
      saving ??= timers.after(saveAfterMs, save);
    },

    close() {
      if (saving) save();
    },
  };
}

function requestIn(content: string): z.output<typeof Request> {
  try {
    return Request.parse(JSON.parse(content));
  } catch {
    throw new Refusal(`metrics takes ${usage}`);
  }
}

function makeRoom(entries: ReadonlyMap<string, unknown>, key: string): void {
  if (!entries.has(key) && entries.size >= maxEntries)
    throw new Refusal(`metrics keeps ${maxEntries} entries, and all are taken`);
}
