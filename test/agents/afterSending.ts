import { batch, Gate, say, type ToolCall } from "../../fixtures/model-servers/server.ts";
import type { Bench } from "./bench.ts";
import type { Switchboard } from "./switchboard.ts";

/** A reply that stops until a message has been sent: what the model wants to do next meets the message on its way. */
export function afterSending(send: () => Promise<string>): { gate: Gate; tag: Promise<string> } {
  const gate = new Gate();
  const tag = gate.reached.then(async () => {
    const sent = await send();
    gate.open();
    return sent;
  });
  return { gate, tag };
}

/** An urgent message that is sent just before the model calls two tools; its tag. */
export async function interruptBatch(
  board: Switchboard,
  bench: Bench,
  shell: (command: string) => ToolCall,
): Promise<string> {
  const { gate, tag } = afterSending(() => board.send("ana", "--when", "interrupt", "do not touch auth.ts"));
  bench.model.add(
    { ...batch(shell("touch auth.ts"), shell("touch auth.test.ts")), hold: gate },
    batch(shell("echo instead")),
    say("understood"),
  );
  await bench.prompt("edit auth.ts");
  return tag;
}
