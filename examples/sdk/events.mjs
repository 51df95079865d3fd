// Watches what happens. A stream that breaks goes on after the last event that it had.
import { connect } from "tieline";

const user = await connect();
const listener = await user.registerAgent({ name: "listener" });

const { last } = await user.client.call("events", { limit: 0 });
await user.send("listener", "are you there?");
for await (const event of user.events({ after: last, types: ["message.accepted"] })) {
  console.log(`${event.from} wrote to ${event.recipients.join(", ")}`);
  break;
}
console.log(`${(await listener.whoami()).name} is known by ${(await listener.whoami()).knownBy}`);
