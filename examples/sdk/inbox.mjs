// An agent written in code: it reads its mail and answers. Run it with Bun or with Node 20 or newer.
import { connect } from "tieline";

const user = await connect();
const parrot = await user.registerAgent({ name: "parrot" });

const { tag } = await user.send("parrot", "pretty bird");
for await (const message of parrot.inbox()) {
  console.log(`${message.from} says: ${message.body}`);
  await message.reply(`${message.body}!`);
  // The message counts as seen when the loop asks for the next one; who leaves it here says so first.
  await message.seen();
  break;
}
console.log(`it was ${(await user.status({ tag })).deliveries[0].state}`);
