/** A home with 500 agents in five teams and 100,000 messages of a month, written past the daemon. */
import { Database } from "bun:sqlite";
import { join } from "node:path";
import { createClient } from "../../src/client/client.ts";
import { countHistory } from "../../src/mailbox/sqlite/statistics.ts";
import { launcher, type BenchHome } from "../../src/testing/benchHome.ts";

export const agentCount = 500;
export const messageCount = 100_000;
export const teams = ["t0", "t1", "t2", "t3", "t4"] as const;
const monthMs = 29 * 86_400_000;

export const agentName = (at: number): string => `agent${at}`;
export const teamOfAgent = (at: number): string => teams[at % teams.length]!;

export async function fillHome(home: BenchHome): Promise<void> {
  for (const team of teams) await home.user.call("teamCreate", { team });
  const clients = teams.map((team) => createClient({ url: home.url, token: home.userToken }, { team }));
  for (let at = 0; at < agentCount; at += 50)
    await Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        clients[(at + index) % teams.length]!.call("register", { name: agentName(at + index) }),
      ),
    );
  const ids = (await home.user.call("ls", { all: true })).map(({ id, name, team }) => ({ id, name, team }));
  await daemon(home, "stop");
  const database = new Database(join(home.root, "mailbox.db"));
  database.run("PRAGMA synchronous = OFF");
  database.transaction(() => {
    database.run("CREATE TEMP TABLE people (at INTEGER PRIMARY KEY, id TEXT, name TEXT, team TEXT)");
    const add = database.prepare("INSERT INTO people VALUES (?, ?, ?, ?)");
    ids.forEach(({ id, name, team }, at) => add.run(at, id, name, team));
    writeMessages(database, ids.length);
  })();
  countHistory(database);
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close();
  await daemon(home, "start");
}

/** Most were seen; one in fifty waits, one in eighty failed. Every tenth has a rare word. */
function writeMessages(database: Database, people: number): void {
  const step = Math.floor(monthMs / messageCount);
  database.run(
    `WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < ${messageCount})
     INSERT INTO messages (id, tag, from_id, from_name, from_team, known_by, to_text, team, body, summary, kind, served,
       hard, thread, expects_reply, starts, hops, accepted_at)
     SELECT printf('%032x', x), 'MSG_BENCH_' || printf('%08x', x), f.id, f.name, f.team, 'token', t.name, f.team,
       'the build of part ' || x || ' is green, and ' || CASE WHEN x % 1000 = 0 THEN 'rareword' ELSE 'usual' END,
       'the build of part ' || x || ' is green', 'text', 'turn', 0, printf('%032x', x), 0, 0, 1,
       ${Date.now() - monthMs} + x * ${step}
     FROM n JOIN people f ON f.at = x % ${people} JOIN people t ON t.at = (x * 7 + 3) % ${people}`,
  );
  database.run(
    `INSERT INTO deliveries (message, agent, agent_name, state, served, wakes, attempts, proof, transport, authority,
       queued_at, updated_at)
     SELECT m.seq, t.id, t.name,
       CASE WHEN m.seq % 50 = 0 THEN 'queued' WHEN m.seq % 80 = 0 THEN 'failed' ELSE 'seen' END, 'turn', 1, 0,
       'tool', 'pull', 'peer', m.accepted_at, m.accepted_at + 900
     FROM messages m JOIN people t ON t.at = (m.seq * 7 + 3) % ${people}`,
  );
  database.run(
    `INSERT INTO history (delivery, at, verb, from_state, to_state, transport)
     SELECT id, queued_at, 'accept', NULL, 'queued', NULL FROM deliveries`,
  );
  database.run(
    `INSERT INTO history (delivery, at, verb, from_state, to_state, proof, transport)
     SELECT id, updated_at, 'confirm', 'claimed', state, 'tool', 'pull' FROM deliveries WHERE state = 'seen'`,
  );
  database.run("INSERT INTO message_words (rowid, body) SELECT seq, body FROM messages");
  database.run("UPDATE message_words_progress SET up_to = (SELECT max(seq) FROM messages)");
}

async function daemon(home: BenchHome, verb: "start" | "stop"): Promise<void> {
  const { exited } = Bun.spawn([launcher, "daemon", verb], { env: home.env, stdout: "ignore" });
  if ((await exited) !== 0) throw new Error(`tieline daemon ${verb} failed`);
}
