/** What holds for every program whose model calls our tools. */
import { expect } from "bun:test";
import type { InboxView } from "../../src/api/schema.ts";
import { freshHas, Gate, say, type Step } from "../../fixtures/model-servers/server.ts";
import type { AgentProgram } from "./install.ts";
import { insisting, seated, toolResult } from "./mcpSeat.ts";

export interface McpProgram {
  readonly program: AgentProgram;
  /** As `tieline setup --mcp` calls it. */
  readonly setup: string;
  /** A call of a tool of ours, as its model makes it. */
  readonly tool: (name: string, input?: Record<string, unknown>) => Step;
}

export function mcpSuite(
  run: (name: string, body: () => Promise<void>) => void,
  { program, setup, tool }: McpProgram,
): void {
  run("it sends by the tool, under its own name, and the model reads that it was accepted", async () => {
    await using seat = await seated(
      program,
      setup,
      insisting(tool("send_message", { to: "user", body: "the build is green" }), say("sent")),
    );
    await seat.bench.prompt("tell them please");
    await seat.bench.model.next((one) => freshHas(one, "tell them please"));
    const result = await toolResult(seat.bench);
    expect(result).toMatch(/MSG_ANA_[0-9a-f]{8} is accepted for user/);
    const [letter] = await seat.board.json<InboxView[]>("inbox");
    expect(letter).toMatchObject({ from: "ana", body: "the build is green" });
  });

  run(
    "mail that came while it worked is read by the tool, and is seen once the model has answered behind it",
    async () => {
      const gate = new Gate();
      await using seat = await seated(program, setup, insisting({ hold: gate, ...tool("check_inbox") }, say("read")));
      await seat.bench.prompt("look at your mail");
      await gate.reached;
      const tag = await seat.board.send("ana", "do not touch auth.ts");
      gate.open();
      const result = await toolResult(seat.bench);
      expect(result).toContain(`[${tag} from user]`);
      expect(result).toContain("do not touch auth.ts");
      expect((await seat.board.reached(tag, ({ state }) => state === "seen")).deliveries[0]).toMatchObject({
        proof: "transcript",
        transport: "pull",
        authority: "peer",
      });
    },
  );

  run("a program that Tieline does not know gets the command that adopts it", async () => {
    await using seat = await seated(program, setup, insisting(tool("list_agents"), say("oh")), { adopted: false });
    await seat.bench.prompt("who is there?");
    const result = await toolResult(seat.bench);
    expect(result).toContain("IDENTITY_UNKNOWN");
    expect(result).toContain("tieline adopt");
  });
}
