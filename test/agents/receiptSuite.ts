/** What a receipt says of a message that was long, late, or changed on its way into a real program. */
import { expect } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { batch, freshTexts, say, type ToolCall } from "../../fixtures/model-servers/server.ts";
import type { AgentView, ReceiptView } from "../../src/api/schema.ts";
import { afterSending } from "./afterSending.ts";
import { isThere, type Bench, type BenchOptions } from "./bench.ts";
import { inPausedTool } from "./pausedTool.ts";
import type { ProgramTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

export interface Receipts {
  readonly title: string;
  readonly test: ProgramTest;
  /** The word behind `tieline setup --hooks`. */
  readonly word: string;
  /** The program as a user starts it, adopted as `ana`, with our hooks or without. */
  readonly start: (board: Switchboard, options: BenchOptions & { readonly hooks: boolean }) => Promise<Bench>;
  readonly shell: (command: string) => ToolCall;
  /** Characters that go whole beside a tool's result, and in a refusal. */
  readonly wholeContext: number;
  readonly wholeRefusal: number;
  readonly untilIdle: (bench: Bench) => Promise<void>;
}

const patienceMs = 30_000;
const testMs = 120_000;

export function receiptSuite({
  title,
  test,
  word,
  start,
  shell,
  wholeContext,
  wholeRefusal,
  untilIdle,
}: Receipts): void {
  const inFile = (board: Switchboard, length: number): string => {
    const file = join(board.root, `${length}.txt`);
    writeFileSync(file, bodyOf(length));
    return file;
  };

  test(
    `${title} without hooks: a send with --when says at once that it arrives with the turn's end, and how to ` +
      "have it earlier",
    async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board, { hooks: false, permissions: "allow" });
      expect(
        (await board.json<AgentView[]>("ls"))
          .find(({ name }) => name === "ana")!
          .endpoints.map(({ transport }) => transport),
      ).not.toContain("hook");
      const tool = await inPausedTool(bench);
      // What the screen shows is known once something looked.
      await until(
        async () =>
          (await board.json<AgentView[]>("ls")).some(({ name, state }) => name === "ana" && state === "working"),
        { deadlineMs: patienceMs, what: async () => "ana is seen working" },
      );
      const sent = [];
      for (const when of ["interrupt", "tool"]) {
        const { deliveries, tag } = await board.json<ReceiptView>("send", "ana", "--when", when, `as ${when}`);
        const text =
          `--when ${when} works only as --when turn: no hook of ana calls Tieline; run \`tieline setup --hooks ` +
          `${word}\`, then restart ana`;
        expect(deliveries[0]).toMatchObject({ state: "queued", notes: [{ code: "degraded", text }] });
        const { stdout } = await board.tieline(["status", tag]);
        expect(stdout).toContain(text);
        expect(stdout).not.toContain("its hooks ask for mail");
        sent.push({ tag, text });
      }
      await tool.release();
      for (const { tag, text } of sent) {
        const { deliveries } = await board.reached(tag, ({ state }) => state === "seen", patienceMs);
        expect(deliveries[0]!.notes).toEqual([{ code: "degraded", text }]);
      }
    },
    testMs,
  );

  test(
    `${title}, ${wholeContext} characters beside a tool's result: the model gets them whole`,
    async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board, { hooks: true, permissions: "allow" });
      const tool = await inPausedTool(bench);
      const tag = await board.send("ana", "--when", "tool", "--file", inFile(board, wholeContext));
      await tool.release();
      const request = await bench.model.next((one) => one.entries.some(({ text }) => text.includes(`[end ${tag}`)));
      expect(request.entries.filter(({ text }) => text.includes(bodyOf(wholeContext)))).toHaveLength(1);
      const { deliveries } = await board.reached(tag, ({ state }) => state === "seen", patienceMs);
      expect(deliveries[0]).toMatchObject({ transport: "hook", notes: [] });
    },
    testMs,
  );

  test(
    `${title}, ${wholeRefusal} characters that stop a batch: the model gets them whole, once`,
    async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board, { hooks: true, permissions: "allow" });
      const { gate, tag: sent } = afterSending(() =>
        board.send("ana", "--when", "interrupt", "--file", inFile(board, wholeRefusal)),
      );
      bench.model.add({ ...batch(shell("touch one"), shell("touch two")), hold: gate }, say("understood"));
      await bench.prompt("touch them");
      const tag = await sent;
      const request = await bench.model.next((one) => freshTexts(one, "tool").length > 0);
      expect(freshTexts(request, "tool").filter((text) => text.includes(bodyOf(wholeRefusal)))).toHaveLength(1);
      expect(freshTexts(request, "tool").every((text) => text.includes(tag))).toBe(true);
      expect([isThere(bench, "one"), isThere(bench, "two")]).toEqual([false, false]);
      const { deliveries } = await board.reached(tag, ({ state }) => state === "seen", patienceMs);
      expect(deliveries[0]).toMatchObject({ transport: "hook", notes: [] });
    },
    testMs,
  );

  test(
    `${title}, 990,000 characters typed at its prompt: the model gets them whole`,
    async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board, { hooks: false });
      const tag = await board.send("ana", "--wait", "seen", "--timeout", "60s", "--file", inFile(board, 990_000));
      const request = await bench.model.next((one) => one.entries.some(({ text }) => text.includes(`[end ${tag}`)));
      expect(request.entries.filter(({ text }) => text.includes(bodyOf(990_000)))).toHaveLength(1);
      expect((await board.status(tag)).deliveries[0]).toMatchObject({ state: "seen", transport: "tmux", notes: [] });
    },
    testMs,
  );

  test(
    `${title}, more than it takes beside a tool's result: delivered as a summary, and seen only after the ` +
      "agent fetched the text",
    async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board, { hooks: true, permissions: "allow" });
      const tool = await inPausedTool(bench);
      const tag = await board.send("ana", "--when", "tool", "--file", inFile(board, 1_000_000));
      await tool.release();
      const request = await bench.model.next((one) => one.entries.some(({ text }) => text.includes(`show ${tag}]`)));
      expect(request.entries.some(({ text }) => text.includes(bodyOf(2_000)))).toBe(false);
      await request.ended;
      await untilIdle(bench);
      const rung = await board.reached(tag, ({ state }) => state === "delivered", patienceMs);
      expect(rung.deliveries[0]).toMatchObject({
        state: "delivered",
        notes: [{ code: "summary-only", text: expect.stringContaining("summary only") }],
      });
      expect((await board.tieline(["status", tag])).stdout).toContain("summary only");
      expect((await board.client().call("wait", { tag, state: "seen", timeoutMs: 1_000 })).deliveries[0]!.state).toBe(
        "delivered",
      );

      bench.model.add(batch(shell(`${board.command} show ${tag} | tail -c 100`)), say("read"));
      await bench.prompt("read it");
      const history = await board.reached(tag, ({ state }) => state === "seen", patienceMs);
      expect(history.deliveries[0]).toMatchObject({ proof: "transcript", notes: [{ code: "fetched" }] });
      await bench.model.next((one) =>
        freshTexts(one, "tool").some((text) => text.includes(bodyOf(1_000_000).slice(-50))),
      );
    },
    testMs,
  );
}

/** Text of which every part tells where it is. */
const bodyOf = (length: number): string =>
  Array.from({ length: Math.ceil(length / 10) }, (_, at) => `${at}.`.padStart(9, "-"))
    .join("\n")
    .slice(0, length);
