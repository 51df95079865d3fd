/** Codexes of which nothing tells the conversation in front: after `/new`, and several at one shared server. */
import { expect } from "bun:test";
import { freshHas } from "../../fixtures/model-servers/server.ts";
import { prepareBench, type Bench } from "./bench.ts";
import { codexTest, embedded, openAtSharedServer, untilIdle } from "./codexTest.ts";
import { neverEarly } from "./outageSuite.ts";
import { press } from "./user.ts";
import { Switchboard } from "./switchboard.ts";

async function beginAnew(bench: Bench): Promise<void> {
  await bench.draft("/new");
  await press(bench, "Enter", ({ text }) => !text.includes("› /new") && !text.includes("first"));
  await untilIdle(bench);
}

const threadOf = async (bench: Bench, tag: string): Promise<string> =>
  (await bench.model.next((one) => freshHas(one, tag))).sessionId!;

codexTest("on its own, after /new, twice: what is typed to it is proved in the new conversation", async () => {
  await using board = await Switchboard.start();
  await using bench = await embedded(board);
  const threads: string[] = [];
  for (const words of ["first", "first again", "first of all"]) {
    if (threads.length > 0) await beginAnew(bench);
    const tag = await board.send("ana", "--wait", "seen", words);
    const history = await board.status(tag);
    expect(history.deliveries[0]).toMatchObject({ transport: "tmux", proof: "transcript" });
    neverEarly(bench, [history]);
    threads.push(await threadOf(bench, tag));
    await untilIdle(bench);
  }
  expect(new Set(threads).size).toBe(3);
  expect((await board.client().call("ls", {})).find(({ name }) => name === "ana")!.sessionId).toBe(threads[2]!);
});

codexTest("two at one shared server in one directory: each message reaches its own, and is proved", async () => {
  await using board = await Switchboard.start();
  const { bench: prepared, command } = await prepareBench("codex");
  await using bench = prepared;
  await openAtSharedServer(bench, command);
  const first = bench.pane;
  const second = (
    await bench.tmux("new-window", "-d", "-P", "-F", "#{pane_id}", "-c", bench.place.project, "--", ...command)
  ).trim();
  bench.pane = second;
  await bench.untilReady();
  await board.serve(bench);
  await board.run("adopt", first, "--name", "ana");
  await board.run("adopt", second, "--name", "bob");
  const threads = { ana: new Set<string>(), bob: new Set<string>() };
  for (const round of [1, 2, 3]) {
    for (const [name, pane] of [
      ["ana", first],
      ["bob", second],
    ] as const) {
      bench.pane = pane;
      const tag = await board.send(name, "--wait", "seen", `round ${round}`);
      neverEarly(bench, [await board.status(tag)]);
      threads[name].add(await threadOf(bench, tag));
      await untilIdle(bench);
    }
  }
  expect([threads.ana.size, threads.bob.size, new Set([...threads.ana, ...threads.bob]).size]).toEqual([1, 1, 2]);
});

codexTest("one at the shared server, after /new: the message goes to the conversation that the user sees", async () => {
  await using board = await Switchboard.start();
  const { bench: prepared, command } = await prepareBench("codex");
  await using bench = prepared;
  await openAtSharedServer(bench, command);
  await board.adopt(bench);
  const before = await board.send("ana", "--wait", "seen", "first");
  expect((await board.status(before)).deliveries[0]).toMatchObject({ transport: "codex-server" });
  await untilIdle(bench);
  await beginAnew(bench);
  const after = await board.send("ana", "--wait", "seen", "second");
  await bench.waitForScreen(({ text }) => text.includes("second"));
  expect(await threadOf(bench, after)).not.toBe(await threadOf(bench, before));
});
