import { expect, test } from "bun:test";
import { complainRarely, runForever } from "./runForever.ts";

test("continues after a step that fails, with growing pauses, and ends with the signal", async () => {
  const stop = new AbortController();
  const begun: number[] = [];
  const reports: string[] = [];
  await runForever(
    "a loop",
    stop.signal,
    async () => {
      begun.push(performance.now());
      if (begun.length <= 4) throw new Error(`failure ${begun.length}`);
      if (begun.length === 8) stop.abort();
    },
    (context, fault) => reports.push(`${context}: ${(fault as Error).message}`),
    { firstMs: 8, mostMs: 16 },
  );
  expect(begun).toHaveLength(8);
  expect(reports).toEqual([1, 2, 3, 4].map((at) => `a loop: failure ${at}`));
  const pauses = begun.slice(1).map((at, index) => at - begun[index]!);
  expect(pauses.slice(0, 4).every((ms, at) => ms >= [7, 15, 15, 15][at]!)).toBe(true);
});

test("survives a step that throws at once, and a report that throws", async () => {
  const stop = new AbortController();
  let steps = 0;
  const step = (): void => {
    if (++steps === 3) stop.abort();
    else throw new Error("no");
  };
  const report = (): void => {
    throw new Error("the log is full");
  };
  await runForever("a loop", stop.signal, step, report, { firstMs: 1 });
  expect(steps).toBe(3);
});

test("a pause ends with the signal", async () => {
  const stop = new AbortController();
  const loop = runForever(
    "a loop",
    stop.signal,
    () => Promise.reject(new Error("no")),
    () => setImmediate(() => stop.abort()),
    { firstMs: 600_000 },
  );
  await loop;
  expect(stop.signal.aborted).toBe(true);
});

test("the same fault is reported once a minute, with how often it was met; another one at once", () => {
  let now = 0;
  const reports: string[] = [];
  const complain = complainRarely(
    "a loop",
    (context, fault) => reports.push(`${context}: ${(fault as Error).message}`),
    { timers: { elapsed: () => now } },
  );
  for (; now < 90_000; now += 1_000) complain(new Error("EMFILE"));
  complain(new Error("ENOENT"));
  complain(new Error("EMFILE"));
  expect(reports).toEqual(["a loop: EMFILE", "a loop (60 times since): EMFILE", "a loop: ENOENT", "a loop: EMFILE"]);
});
