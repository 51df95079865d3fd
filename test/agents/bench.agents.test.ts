import { describe, expect } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { batch, freshHas, freshTexts, say } from "../../fixtures/model-servers/server.ts";
import { recipes, startBench } from "./bench.ts";
import { pins, type AgentProgram } from "./install.ts";
import { programTest } from "./programTest.ts";

const prompt = '[msg 1 from ana]\ngrüße, 世界 👩‍👩‍👧  two spaces, a "quote" and a \\ backslash\n[end msg 1]';

for (const program of Object.keys(recipes) as AgentProgram[]) {
  const run = await programTest(program);
  const recipe = recipes[program];
  describe(`${program} ${pins[program].version}`, () => {
    run("a pasted prompt reaches the model byte for byte, and the reply reaches the screen", async () => {
      await using bench = await startBench(program, { script: [say("the scripted reply")] });
      await bench.prompt(prompt);
      const request = await bench.model.next((one) => freshHas(one, "msg 1 from ana"));
      const texts = freshTexts(request, "user").map((text) => (program === "opencode" ? text.trimEnd() : text));
      expect(texts).toContain(prompt);
      expect(await request.ended).toBe("whole");
      await bench.waitForScreen((screen) => screen.text.includes("the scripted reply"));
    });

    run("a batch of tool calls runs, and each result reaches the model", async () => {
      const calls = ["one", "two"].map((word) => recipe.shellCall(`echo ran-${word}; touch ${word}`));
      await using bench = await startBench(program, { script: [batch(...calls), say("done")], permissions: "allow" });
      await bench.prompt("run them please");
      await bench.model.next((one) => freshHas(one, "run them please"));
      const request = await bench.model.next();
      const results = freshTexts(request, "tool");
      expect(results).toHaveLength(2);
      expect(results[0]).toContain("ran-one");
      expect(results[1]).toContain("ran-two");
      expect(existsSync(join(bench.place.project, "two"))).toBe(true);
    });

    // One that asks nothing has no dialog to prove.
    if (recipe.permissionDialog === undefined) return;
    run("a permission dialog is open and nothing has run", async () => {
      const script = [{ calls: [recipe.shellCall("touch forbidden", true)] }, say("done")];
      await using bench = await startBench(program, { script });
      await bench.prompt("touch it please");
      await bench.waitForScreen((screen) => screen.text.includes(recipe.permissionDialog!));
      expect(existsSync(join(bench.place.project, "forbidden"))).toBe(false);
      expect(bench.model.requests.filter((request) => !request.side)).toHaveLength(1);
      if (program === "claude-code") {
        expect((await bench.untilStatus("waiting")).waitingFor).toBe("permission prompt");
      }
    });
  });
}
