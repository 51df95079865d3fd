/**
 * send_message over MCP, against the floor: the same message made durable in the same kind of mailbox, without any way
 * there. The target is a median of 3 ms beyond the floor.
 */
import { join } from "node:path";
import { Client as McpClient, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { createClient } from "../src/client/client.ts";
import { openMailbox } from "../src/mailbox/mailbox.ts";
import { mailboxMigrations } from "../src/mailbox/sqlite/schema.ts";
import { sqliteStore } from "../src/mailbox/sqlite/store.ts";
import { agentId } from "../src/model/ids.ts";
import { seal } from "../src/model/message.ts";
import { connect } from "../src/os/sqlite/connection.ts";
import { launcher, percentile, startBenchHome } from "../src/testing/benchHome.ts";

const rounds = 300;
const warmUp = 30;
const targetMs = 3;
const body = "the login test fails on Safari, please look";

type Run = () => Promise<unknown>;

/**
 * In turns, so that whatever else the machine does meets all of them alike. Between them the mail is fetched, as it is
 * in life.
 */
async function timed(runs: Readonly<Record<string, Run>>, between: Run): Promise<Record<string, number[]>> {
  const times: Record<string, number[]> = Object.fromEntries(Object.keys(runs).map((name) => [name, []]));
  for (let round = -warmUp; round < rounds; round++) {
    for (const [name, run] of Object.entries(runs)) {
      const start = performance.now();
      await run();
      if (round >= 0) times[name]!.push(performance.now() - start);
    }
    await between();
  }
  return times;
}

function commit(root: string): { run: Run; close: () => Promise<void> } {
  const path = join(root, "floor.db");
  const mailbox = openMailbox(sqliteStore(connect(path, { mailbox: mailboxMigrations })), {});
  const sender = { id: agentId("a"), name: "ana", team: "web", knownBy: "token" } as const;
  return {
    run: () =>
      mailbox.accept(seal({ to: "ben", body }, sender, { inReplyTo: null, hops: 0 }), [
        { id: agentId("b"), name: "ben" },
      ]),
    close: async () => mailbox[Symbol.asyncDispose](),
  };
}

async function sending(
  transport: StdioClientTransport | StreamableHTTPClientTransport,
): Promise<{ run: Run; close: () => Promise<void> }> {
  const mcp = new McpClient({ name: "bench", version: "1" });
  await mcp.connect(transport as StdioClientTransport);
  const run = async (): Promise<void> => {
    const { isError, content } = await mcp.callTool({ name: "send_message", arguments: { to: "ben", body } });
    if (isError) throw new Error(JSON.stringify(content));
  };
  return { run, close: () => mcp.close() };
}

await using home = await startBenchHome();
const { token } = await home.user.call("register", { name: "ana" });
const ben = createClient({ url: home.url, token: (await home.user.call("register", { name: "ben" })).token }, {});
const plain = createClient({ socket: join(home.root, "daemon.sock") }, { token });
const floor = commit(home.root);
const stdio = await sending(
  new StdioClientTransport({ command: launcher, args: ["mcp"], env: { ...home.env, TIELINE_TOKEN: token } }),
);
const http = await sending(
  new StreamableHTTPClientTransport(new URL(`${home.url}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  }),
);
const fetchMail = async (): Promise<void> => {
  const mail = await ben.call("collect", { limit: 50 });
  await ben.call("collected", { deliveries: mail.flatMap(({ delivery }) => delivery ?? []) });
};
const times = await timed(
  {
    floor: floor.run,
    "the socket": () => plain.call("send", { to: "ben", body, key: crypto.randomUUID() }),
    stdio: stdio.run,
    "streamable HTTP": http.run,
  },
  fetchMail,
);
await Promise.all([floor.close(), stdio.close(), http.close()]);

const median = percentile(times["floor"]!, 0.5);
console.log(
  `floor: durable commit              p10 ${percentile(times["floor"]!, 0.1).toFixed(2)} ms   median ` +
    `${median.toFixed(2)} ms   p95 ${percentile(times["floor"]!, 0.95).toFixed(2)} ms`,
);
for (const way of ["the socket", "stdio", "streamable HTTP"]) {
  const taken = times[way]!;
  const beyond = percentile(taken, 0.5) - median;
  console.log(
    `send_message over ${way.padEnd(16)} p10 ${percentile(taken, 0.1).toFixed(2)} ms   median ` +
      `${percentile(taken, 0.5).toFixed(2)} ms   p95 ${percentile(taken, 0.95).toFixed(2)} ms   beyond the ` +
      `commit ${beyond.toFixed(2)} ms (${(percentile(taken, 0.5) / median).toFixed(1)} × floor; target ` +
      `${targetMs} ms: ${beyond < targetMs ? "ok" : "TOO SLOW"})`,
  );
}
