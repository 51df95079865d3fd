/** send, inbox and ls with a million messages in the mailbox, against the same with none. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createClient } from "../src/client/client.ts";
import { homeOf } from "../src/client/home.ts";
import { callerOf } from "../src/cli/daemon/connect.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { interleaved, median, ms, report } from "./support/measure.ts";

const messages = Number(process.argv[2] ?? 1_000_000);

async function prepared(): Promise<World> {
  const world = await startWorld({ config: { retention: { maxMegabytes: 100_000 } } });
  await world.pane(["cat"]);
  await world.json(["adopt", "%0", "--name", "ana"]);
  return world;
}

/** Written past the daemon, which would take its time over a million. */
async function fill(world: World): Promise<void> {
  const [ana] = await world.ls();
  await world.tieline(["daemon", "stop"]);
  const database = new Database(join(world.env["TIELINE_HOME"]!, "mailbox.db"));
  database.run("PRAGMA synchronous = OFF");
  const now = Date.now();
  database.run(
    `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${messages})
     INSERT INTO messages (id, tag, from_id, from_name, from_team, known_by, to_text, team, body, summary, kind, served,
       hard, thread, expects_reply, starts, hops, accepted_at)
     SELECT printf('%032x', x), 'MSG_OTHER_' || printf('%08x', x), 'other' || (x % 50), 'other', 'default', 'token',
       'ana', 'default', 'body of message ' || x, 'summary', 'text', 'turn', 0, printf('%032x', x), 0, 0, 1,
       ${now} - ${messages} + x FROM n`,
  );
  database.run(
    `INSERT INTO deliveries (message, agent, agent_name, state, served, wakes, attempts, proof, transport, authority,
       queued_at, updated_at)
     SELECT seq, '${ana!.id}', 'ana', 'delivered', 'turn', 1, 0, 'screen', 'tmux', 'user', accepted_at, accepted_at
       FROM messages WHERE id LIKE '0%'`,
  );
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
}

await using empty = await prepared();
await using full = await prepared();
await fill(full);

const operations = async (world: World) => {
  await world.tieline(["daemon", "start"]);
  const home = homeOf(world.env);
  const client = createClient({ socket: home.socket }, { ...(await callerOf(home, world.env)), cwd: world.project });
  await world.tmux("send-keys", "-t", "%0", "a draft keeps the mail waiting");
  return {
    send: () => client.call("send", { to: "ana", body: "hello" }),
    inbox: () => client.call("inbox", { agent: "ana" }),
    ls: () => client.call("ls", {}),
  };
};
const [none, million] = [await operations(empty), await operations(full)];
for (const name of ["send", "inbox", "ls"] as const) {
  await interleaved(20, { none: none[name], million: million[name] });
  const times = await interleaved(200, { none: none[name], million: million[name] });
  const [few, many] = [median(times["none"]!), median(times["million"]!)];
  report(`${name} with ${messages} messages`, many / few, 1.5, `${ms(many)} against ${ms(few)} when empty`);
}
