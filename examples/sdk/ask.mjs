// One agent asks another and waits for the answer.
import { connect, TielineError } from "tieline";

const user = await connect();
const [lead, builder] = [await user.registerAgent({ name: "lead" }), await user.registerAgent({ name: "builder" })];

const ending = new AbortController();
const working = (async () => {
  for await (const message of builder.inbox({ signal: ending.signal })) await message.reply("all green");
})();

const answer = await lead.ask("builder", "is the build green?", { timeoutMs: 60_000 });
console.log(`${answer.from} answered: ${answer.body}`);

try {
  await lead.send("biulder", "thanks");
} catch (error) {
  if (!(error instanceof TielineError)) throw error;
  console.log(`${error.code}: ${error.message}`);
}
ending.abort();
await working;
