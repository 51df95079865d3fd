// An object: a participant that is no AI. Agents write to it by name, and code answers.
import { connect } from "tieline";

const user = await connect();
const adder = await user.registerObject({
  name: "adder",
  onMessage: ({ body }) => String(body.split("+").reduce((sum, term) => sum + Number(term), 0)),
});
console.log(`2 + 40 is ${(await user.ask("adder", "2 + 40", { timeoutMs: 60_000 })).body}`);
adder.stop();
await adder.stopped;
