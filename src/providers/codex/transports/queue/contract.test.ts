import { afterAll, beforeAll } from "bun:test";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent } from "../../../../testing/agents.ts";
import { describeUnless, lackOfLinux } from "../../../../testing/needing.ts";
import { compileCodex, rolloutIn, toldIn } from "../../../../testing/scriptedCodex.ts";
import { transportContract } from "../../../../testing/transportContract.ts";
import { until } from "../../../../testing/until.ts";
import { codexQueueTransport } from "./transport.ts";

const thread = "01a1dea3-0d87-7f31-a341-1fd2acea66a4";

describeUnless(lackOfLinux)("the queue of a running program", () => {
  let folder: string;
  let program: string;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), "tl-codex-"));
    program = await compileCodex(folder);
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  transportContract(
    "codex-queue",
    async () => {
      const codexHome = mkdtempSync(join(folder, "home-"));
      const rollout = rolloutIn(codexHome, thread);
      const codex = Bun.spawn([program, thread], {
        env: { CODEX_HOME: codexHome },
        stdin: "ignore",
        stdout: "ignore",
        stderr: "inherit",
      });
      await until(() => existsSync(rollout), "the thread to begin");
      const endpoint = { transport: "codex-queue", locator: {} };
      return {
        // There is a draft at its prompt.
        transport: codexQueueTransport({
          pane: { probe: async () => ({ kind: "held", hold: { reason: "draft", detail: "" } }) },
        }),
        agent: anAgent({
          name: "ana",
          provider: "codex",
          endpoints: [{ transport: "tmux", locator: { agentPid: codex.pid } }, endpoint],
        }),
        endpoint,
        received: () => toldIn(rollout),
        vanish,
        [Symbol.asyncDispose]: vanish,
      };

      async function vanish(): Promise<void> {
        codex.kill("SIGKILL");
        await codex.exited;
      }
    },
    // What is not in the thread may still stand in Codex's queue.
    { remembers: false, vanished: "gone" },
  );
});
