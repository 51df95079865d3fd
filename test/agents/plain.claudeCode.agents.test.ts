/**
 * Claude Code in an environment that asks for no colours, adopted, without hooks: only its screen tells what it does.
 */
import { expect } from "bun:test";
import { batch, freshHas, freshTexts, Gate, say } from "../../fixtures/model-servers/server.ts";
import { startBench } from "./bench.ts";
import { claudeTest, dismiss, shell, timesRead } from "./claudeCode.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const environments: readonly Record<string, string>[] = [{ NO_COLOR: "1" }, { FORCE_COLOR: "0" }, { CI: "true" }];

for (const env of environments) {
  const name = Object.entries(env)
    .map((pair) => pair.join("="))
    .join(" ");

  claudeTest(`${name}: idle is delivered to, work and dialogs are waited for, a draft stays`, async () => {
    await using board = await Switchboard.start();
    await using bench = await startBench("claude-code", { env });
    await board.adopt(bench);
    const held = async (tag: string, reason: RegExp): Promise<void> => {
      await board.reached(tag, (delivery) => delivery.state === "queued" && reason.test(delivery.reason ?? ""));
    };

    const first = await board.send("ana", "--wait", "seen", "while idle");
    const request = await bench.model.next((one) => freshHas(one, first));
    expect(freshTexts(request, "user")).toContainEqual(expect.stringContaining(`[${first} from user]\nwhile idle\n`));
    expect((await board.status(first)).deliveries[0]).toMatchObject({ transport: "tmux", authority: "user" });

    const gate = new Gate();
    bench.model.add(say("a long answer", gate));
    await bench.prompt("write something long");
    await gate.reached;
    const second = await board.send("ana", "while it works");
    await held(second, /is working/);
    gate.open();
    await board.reached(second, ({ state }) => state === "seen");

    bench.model.add(batch(shell("touch made")), say("made"));
    await bench.prompt("make a file");
    await until(async () => (await bench.registry())?.status === "waiting", {
      what: async () => "a permission dialog is open",
    });
    const third = await board.send("ana", "while it asks");
    await held(third, /permission dialog/);
    await dismiss(bench);
    await board.reached(third, ({ state }) => state === "seen");

    await bench.untilStatus("idle");
    await bench.draft("half a draft");
    const fourth = await board.send("ana", "over a draft");
    await held(fourth, /draft/);
    expect((await bench.capture()).text).toContain("half a draft");
    await bench.send("C-u");
    await board.reached(fourth, ({ state }) => state === "seen");
    const last = await bench.model.next((one) => timesRead(one, fourth) > 0);
    for (const tag of [first, second, third, fourth]) expect([tag, timesRead(last, tag)]).toEqual([tag, 1]);
  });
}
