/** What holds for every program that Tieline has started and writes to. */
import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { recipes, type Bench, type BenchOptions } from "./bench.ts";
import { framed } from "./framed.ts";
import type { AgentProgram } from "./install.ts";
import { expectAllInOrder, timesGiven } from "./manyMessages.ts";
import type { ProgramTest } from "./programTest.ts";
import type { Screen } from "./screen.ts";
import { Switchboard } from "./switchboard.ts";

export interface Conversation {
  readonly program: AgentProgram;
  readonly start?: (board: Switchboard, options?: BenchOptions) => Promise<Bench>;
  /** What the screen shows when a turn has ended; the model's answer is there already. */
  readonly isAtRest?: (screen: Screen) => boolean;
}

const isBegun = (one: Parameters<typeof freshTexts>[0]): boolean => freshTexts(one, "user").includes("begin");

export function conversationSuite(
  run: ProgramTest,
  { program, start = (board, options) => board.spawned(program, options), isAtRest = () => true }: Conversation,
): void {
  run("while text streams: mail waits for the end of the turn, and the stream is not cut", async () => {
    await using board = await Switchboard.start();
    const gate = new Gate();
    await using bench = await start(board, { script: [say("partial ", gate, "rest"), say("heard")] });
    await bench.prompt("begin");
    const first = await bench.model.next((one) => freshHas(one, "begin"));
    await gate.reached;
    const tag = await board.send("ana", "after the turn");
    await board.reached(tag, ({ state, reason }) => state === "queued" && (reason?.includes("working") ?? false));
    gate.open();
    const request = await bench.model.next((one) => freshHas(one, tag));
    expect(freshTexts(request, "user")).toContain(framed(tag, "after the turn"));
    expect(await first.ended).toBe("whole");
    board.note("streaming", "turn", await board.reached(tag, ({ state }) => state === "seen"));
  });

  run(
    "it is killed with mail waiting: started again by the mail, in the same conversation, it gets it once",
    async () => {
      await using board = await Switchboard.start();
      const gate = new Gate();
      await using bench = await start(board, { script: [{ ...say("partial ", gate), when: isBegun }] });
      await board.reached(await board.send("ana", "remember this"), ({ state }) => state === "seen");
      await bench.waitForScreen((screen) => screen.text.includes("ok ") && isAtRest(screen));
      await bench.prompt("begin");
      await gate.reached;
      const tag = await board.send("ana", "after the crash");
      process.kill(bench.agentPid, "SIGKILL");
      const request = await bench.model.next((one) => freshHas(one, "after the crash"));
      expect(request.entries.filter(({ text }) => text.includes("remember this"))).toHaveLength(1);
      board.note("killed, then started again", "turn", await board.reached(tag, ({ state }) => state === "seen"));
      expect(timesGiven(bench, "after the crash")).toBe(1);
    },
  );
}

/** What also holds for programs that take mail into a running turn. */
export function joinedTurnSuite(run: ProgramTest, program: AgentProgram): void {
  run("--hard: the running answer is cut, and the words start a turn", async () => {
    await using board = await Switchboard.start();
    const gate = new Gate();
    await using bench = await board.spawned(program, { script: [say("partial ", gate), say("heard")] });
    await bench.prompt("begin");
    const first = await bench.model.next((one) => freshHas(one, "begin"));
    await gate.reached;
    const tag = await board.send("ana", "--when", "interrupt", "--hard", "stop at once");
    await bench.model.next((one) => freshHas(one, tag));
    expect(await first.ended).toBe("cut");
    board.note("streaming, --hard", "interrupt", await board.reached(tag, ({ state }) => state === "seen"));
  });

  run("the daemon is killed with one message in the turn and one waiting: each arrives once", async () => {
    await using board = await Switchboard.start();
    const gate = new Gate();
    await using bench = await board.spawned(program, { script: [say("partial ", gate, "rest")] });
    await bench.prompt("begin");
    await gate.reached;
    const joining = await board.send("ana", "--when", "tool", "joins the turn");
    await board.reached(joining, ({ state }) => state === "uncertain");
    const waiting = await board.send("ana", "waits for the end");
    await board.killDaemon();
    gate.open();
    await board.run("daemon", "start");
    for (const tag of [joining, waiting])
      board.note("daemon killed", "turn", await board.reached(tag, ({ state }) => state === "seen"));
    await bench.model.next((one) => freshHas(one, waiting));
    expect(["waits for the end", "joins the turn"].map((body) => timesGiven(bench, body))).toEqual([1, 1]);
  });

  run("20 messages of random sizes and alphabets, between calls of tools: whole, once each, in order", async () => {
    await using board = await Switchboard.start({ guards: { perPairPerMinute: 1_000, perSenderPerMinute: 1_000 } });
    const tool = batch(recipes[program].shellCall("sleep 0.2; echo ran"));
    await using bench = await board.spawned(program, {
      permissions: "allow",
      script: (request) => (request.index % 3 === 0 ? tool : say(`ok ${request.index}`)),
    });
    await expectAllInOrder(board, bench, { count: 20 });
  });
}
