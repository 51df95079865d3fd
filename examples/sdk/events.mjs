// Watches what happens. A stream that breaks goes on after the last event that it had.
import { connect } from "tieline";

const person = await connect();
const listener = await person.registerAgent({ name: "listener" });

const { last } = await person.client.call("events", { limit: 0 });
await person.send("listener", "are you there?");
for await (const event of person.events({ after: last, types: ["message.accepted"] })) {
  console.log(`${event.from} wrote to ${event.recipients.join(", ")}`);
  break;
}
console.log(`${(await listener.whoami()).name} is known by ${(await listener.whoami()).knownBy}`);
