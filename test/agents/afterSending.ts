import { Gate } from "../../fixtures/model-servers/server.ts";

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
