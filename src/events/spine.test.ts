import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import type { Event, Fact } from "../model/event.ts";
import { agentId } from "../model/ids.ts";
import { Spine, type SpineOptions } from "./spine.ts";
import { openEventStore } from "./sqlite.ts";
import type { EventStore } from "./store.ts";

const root = mkdtempSync(join(tmpdir(), "tl-events-"));
afterAll(() => rmSync(root, { recursive: true }));
let files = 0;
const newPath = (): string => join(root, `${++files}.db`);
const noFault = (context: string, fault: unknown): never => {
  throw new Error(context, { cause: fault });
};
const options: SpineOptions = { report: noFault, maxAgeMs: 1e12, maxBytes: 1e12 };
const prompt = (text: string): Fact => ({
  type: "user.prompt",
  agent: agentId("a"),
  name: "ana",
  team: "web",
  prompt: text,
});
const texts = (events: readonly Event[]): string[] =>
  events.flatMap((event) => (event.type === "user.prompt" ? event.prompt : []));

describe("the spine", () => {
  test("numbers ascend, and everything is there after a restart", () => {
    const path = newPath();
    {
      using spine = new Spine(openEventStore(path, noFault), options);
      for (let i = 0; i < 700; i++) spine.emit(prompt(String(i)));
    }
    using spine = new Spine(openEventStore(path, noFault), options);
    spine.emit(prompt("later"));
    const all = [...spine.after(0, 400), ...spine.after(400, 400)];
    expect(texts(all)).toEqual([...Array.from({ length: 700 }, (_, i) => String(i)), "later"]);
    expect(all.map(({ seq }) => seq)).toEqual(Array.from({ length: 701 }, (_, i) => i + 1));
  });

  test("a number that a watcher may have seen is not given out again after a crash", async () => {
    const path = newPath();
    const source = `
      const { Spine } = await import(${JSON.stringify(join(import.meta.dir, "spine.ts"))});
      const { openEventStore } = await import(${JSON.stringify(join(import.meta.dir, "sqlite.ts"))});
      const store = openEventStore(${JSON.stringify(path)}, console.error);
      const spine = new Spine(store, { report: console.error, maxAgeMs: 1e12, maxBytes: 1e12 });
      spine.onEvent(({ seq }) => require("node:fs").writeSync(1, seq + "\\n"));
      const event = { type: "user.prompt", agent: "a", name: "ana", team: "web", prompt: "before" };
      for (let i = 0; i < 600; i++) spine.emit(event);
      process.kill(process.pid, "SIGKILL");
    `;
    const child = Bun.spawn([process.execPath, "-e", source], { stdout: "pipe" });
    const seen = Number((await new Response(child.stdout).text()).trim().split("\n").at(-1));
    expect(seen).toBe(600);
    using again = new Spine(openEventStore(path, noFault), options);
    again.emit(prompt("after the crash"));
    expect(again.last).toBeGreaterThan(seen);
    expect(texts(again.after(seen, 10))).toEqual(["after the crash"]);
    expect(again.after(0, 1_000).length).toBeLessThan(600);
  });

  test("pages from the disk and from memory are one sequence", () => {
    using spine = new Spine(openEventStore(newPath(), noFault), options);
    const total = 10_000;
    for (let i = 1; i <= total; i++) spine.emit(prompt(String(i)));
    const seen: number[] = [];
    for (let page = spine.after(0, 333); page.length > 0; page = spine.after(page.at(-1)!.seq, 333))
      seen.push(...page.map(({ seq }) => seq));
    expect(seen).toEqual(Array.from({ length: total }, (_, i) => i + 1));
    expect(texts(spine.upTo(5_000, 2))).toEqual(["4999", "5000"]);
  });

  test("since a moment", () => {
    let now = 1_000;
    using spine = new Spine(openEventStore(newPath(), noFault), { ...options, clock: () => now });
    for (const at of [1_000, 2_000, 3_000]) {
      now = at;
      spine.emit(prompt(String(at)));
    }
    expect(texts(spine.after(spine.before(2_000), 10))).toEqual(["2000", "3000"]);
    expect(texts(spine.after(spine.before(3_001), 10))).toEqual([]);
    expect(texts(spine.after(spine.before(0), 10))).toHaveLength(3);
  });

  test("a failing listener or disk does not affect other listeners", () => {
    const faults: string[] = [];
    const heard: Event[] = [];
    const full: EventStore = {
      ...openEventStore(newPath(), noFault),
      add() {
        throw new TielineError("STORE_UNAVAILABLE", "the disk is full", { remedy: "free some space" });
      },
    };
    using spine = new Spine(full, { ...options, report: (context) => void faults.push(context) });
    spine.onEvent(() => {
      throw new Error("broken listener");
    });
    spine.onEvent((event) => void heard.push(event));
    spine.emit(prompt("one"));
    spine.emit(prompt("two"));
    spine.upTo(2, 2);
    expect(texts(heard)).toEqual(["one", "two"]);
    expect(texts(spine.after(0, 10))).toEqual(["one", "two"]);
    expect(spine.lost).toBe(2);
    expect(faults).toEqual(["event user.prompt", "event user.prompt", "write 2 events"]);
  });
});

describe("the events on disk", () => {
  test("are bounded by age", () => {
    const store = openEventStore(newPath(), noFault);
    const event = (seq: number): Event => ({ ...prompt("x"), seq, at: seq }) as Event;
    store.add(Array.from({ length: 100 }, (_, i) => event(i + 1)));
    expect(store.prune({ olderThan: 61, maxBytes: 1e12 })).toBe(60);
    expect(store.prune({ olderThan: 61, maxBytes: 1e12 })).toBe(0);
    expect(store.after(0, 1)[0]!.seq).toBe(61);
  });

  test("are bounded by size, the oldest going first", () => {
    const store = openEventStore(newPath(), noFault);
    const text = "x".repeat(1_000);
    store.add(Array.from({ length: 5_000 }, (_, i) => ({ ...prompt(text), seq: i + 1, at: 0 }) as Event));
    let rounds = 0;
    while (store.prune({ olderThan: 0, maxBytes: 2_000_000 }) > 0) rounds++;
    expect(rounds).toBeGreaterThan(1);
    const left = store.after(0, 10_000);
    expect(left.at(-1)!.seq).toBe(5_000);
    expect(left.length * 1_000).toBeLessThan(2_000_000);
    expect(left.length).toBeGreaterThan(500);
  });

  test("that are damaged are moved aside, and new ones begin", () => {
    const path = newPath();
    writeFileSync(path, "this is no database".repeat(1_000));
    const faults: string[] = [];
    const store = openEventStore(path, (context) => void faults.push(context));
    expect(store.after(0, 1)).toEqual([]);
    expect(faults).toEqual(["events"]);
    expect(readdirSync(root).filter((name) => name.endsWith(".damaged"))).toHaveLength(1);
  });
});

describe("a file for events that cannot be opened", () => {
  test("holds nothing up: listeners hear events, their numbers are new, and they are kept once it can", () => {
    const path = newPath();
    const faults: string[] = [];
    mkdirSync(path);
    const store = openEventStore(
      path,
      (context) => void faults.push(context),
      () => 1_800_000_000_000,
    );
    expect(store.highest).toBe(1_800_000_000_000);
    expect(store.problem()).toContain(path);
    expect(faults).toEqual(["open the event log"]);
    const heard: Event[] = [];
    using spine = new Spine(store, { ...options, report: (context) => void faults.push(context) });
    spine.onEvent((event) => void heard.push(event));
    for (const text of ["one", "two"]) {
      spine.emit(prompt(text));
      spine.upTo(spine.last, 1);
    }
    expect(texts(heard)).toEqual(["one", "two"]);
    expect([spine.lost, spine.problem]).toEqual([2, expect.stringContaining(path)]);
    // A series of failures is reported once.
    expect(faults).toEqual(["open the event log", "write 1 events"]);
  });

  test("is opened by a later attempt, with numbers that continue", () => {
    const path = newPath();
    mkdirSync(path);
    let now = 0;
    const store = openEventStore(
      path,
      () => undefined,
      () => 1_800_000_000_000,
      () => now,
    );
    const event = (seq: number): Event => ({ ...prompt("x"), seq, at: 1 }) as Event;
    expect(() => store.add([event(1_800_000_000_001)])).toThrow(path);
    rmSync(path, { recursive: true });
    expect(() => store.add([event(1_800_000_000_002)])).toThrow(path);
    now += 5_000;
    store.add([event(1_800_000_000_003)]);
    expect(store.problem()).toBeNull();
    expect(store.after(0, 10).map(({ seq }) => seq)).toEqual([1_800_000_000_003]);
    store.close(1_800_000_000_003);
    expect(openEventStore(path, noFault).highest).toBe(1_800_000_000_003);
  });
});
