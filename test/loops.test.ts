/**
 * What runs in the background says that it never rejects: its surroundings are broken, and it continues when they are
 * whole.
 */
import { afterEach, expect, test } from "bun:test";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ClaudeReplies } from "../src/providers/claude-code/replies.ts";
import { relayLeadText } from "../src/providers/claude-code/teams/leadText.ts";
import { watchClaudeTeams } from "../src/providers/claude-code/teams/watch.ts";
import { Spool } from "../src/intake/hooks/spool.ts";
import { tailLogs } from "../src/intake/logs/tail.ts";
import { watchOutbox } from "../src/intake/outbox/watch.ts";
import { keepNativeMembers } from "../src/providers/claude-code/teams/native/membership.ts";
import { anAgent } from "../src/testing/agents.ts";
import { until } from "../src/testing/until.ts";
import { followUpInboxes } from "../src/providers/claude-code/transports/inbox/followUp.ts";
import { streamsIn } from "../src/delivery/transports/streams.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

/** A folder, a signal, and what was reported. Whatever runs must end in good order when the test is over. */
function surroundings() {
  const dir = mkdtempSync(join(tmpdir(), "tl-loops-"));
  const stop = new AbortController();
  const reports: string[] = [];
  const running: Promise<void>[] = [];
  ends.push(async () => {
    stop.abort();
    await Promise.all(running);
    rmSync(dir, { recursive: true, force: true });
  });
  return {
    dir,
    signal: stop.signal,
    reports,
    report: (context: string, fault: unknown) => void reports.push(`${context}: ${String(fault)}`),
    run: (loop: Promise<void>) => void running.push(loop),
    reported: () => until(() => reports.length > 0, "a report"),
  };
}

test("the hook spool, when its folder is removed or a file", async () => {
  const { dir, signal, report, run, reported } = surroundings();
  const folder = join(dir, "spool");
  const call = (name: string): void => {
    writeFileSync(join(folder, `${name}.call`), `claude-code\t\t\t\n{"n":"${name}"}`);
    writeFileSync(join(folder, `${name}.done`), "");
  };
  const taken: unknown[] = [];
  mkdirSync(folder);
  run(new Spool({ folder, report, sweepMs: 20, take: async ({ payload }) => void taken.push(payload) }).watch(signal));
  call("1");
  await until(() => taken.length === 1, "the first call");
  rmSync(folder, { recursive: true });
  await until(() => existsSync(folder), "a new folder");
  call("2");
  await until(() => taken.length === 2, "the second call");
  rmSync(folder, { recursive: true });
  writeFileSync(folder, "a file in its place");
  await reported();
  rmSync(folder);
  await until(() => existsSync(folder), "a new folder");
  call("3");
  await until(() => taken.length === 3, "the third call");
});

test("Claude Code's teams, when a file is in the place of their folder", async () => {
  const { dir, signal, report, run } = surroundings();
  writeFileSync(join(dir, "teams"), "not a folder");
  const taken: string[] = [];
  let sweeps = 0;
  run(
    watchClaudeTeams({
      ...{
        configDir: dir,
        home: "h1",
        layout: "inboxes",
        relays: () => false,
        leadLives: async () => false,
        report,
        signal,
        sweepMs: 20,
      },
      accept: async ({ body }) => void taken.push(body),
      metAll: async () => void sweeps++,
    }),
  );
  const wanted = anAgent({ name: "ana", team: "t1" });
  run(
    keepNativeMembers({
      configDir: dir,
      home: "h1",
      register: true,
      agents: () => [wanted],
      cwdOf: () => "/",
      onChange: () => () => undefined,
      report,
      signal,
      sweepMs: 20,
    }),
  );
  await until(() => sweeps > 2, "several looks at the file");
  rmSync(join(dir, "teams"));
  const team = join(dir, "teams", "t1");
  mkdirSync(join(team, "inboxes"), { recursive: true });
  writeFileSync(
    join(team, "config.json"),
    JSON.stringify({ name: "t1", leadAgentId: "team-lead@t1", members: [{ name: "bob" }] }),
  );
  writeFileSync(
    join(team, "inboxes", "user.json"),
    JSON.stringify([{ from: "bob", text: "hello", timestamp: "2026-01-31T09:00:00.000Z", read: false }]),
  );
  await until(() => taken.includes("hello"), "the row for the user");
  await until(() => readFileSync(join(team, "config.json"), "utf8").includes('"ana"'), "the agent to be registered");
});

test("members of Claude Code teams, when what is asked for them fails for a while", async () => {
  const { dir, signal, report, run, reported } = surroundings();
  const team = join(dir, "teams", "t1");
  mkdirSync(team, { recursive: true });
  writeFileSync(join(team, "config.json"), JSON.stringify({ name: "t1", leadAgentId: "team-lead@t1", members: [] }));
  let broken = true;
  const agents = () => {
    if (broken) throw new Error("EMFILE");
    return [anAgent({ name: "ana", team: "t1" })];
  };
  run(
    keepNativeMembers({
      configDir: dir,
      home: "h1",
      register: true,
      agents,
      cwdOf: () => "/",
      onChange: () => () => undefined,
      report,
      signal,
      sweepMs: 20,
    }),
  );
  await reported();
  broken = false;
  await until(() => readFileSync(join(team, "config.json"), "utf8").includes('"ana"'), "the agent to be registered");
});

test("what leads say, when nothing is known of the agents for a while", async () => {
  const { dir, signal, report, run, reported } = surroundings();
  const lead = anAgent({ name: "lead", provider: "claude-headless", sessionId: "s-1" });
  const { output } = streamsIn(dir, "s-1");
  mkdirSync(join(dir, "headless"));
  writeFileSync(output, '{"type":"result","result":"done"}\n');
  let broken = true;
  const sent: string[] = [];
  run(
    relayLeadText({
      ...{
        root: dir,
        report,
        signal,
        sweepMs: 20,
        events: { onEvent: () => () => undefined },
        mailbox: { message: () => null },
      },
      agents: () => {
        if (broken) throw new Error("EMFILE");
        return [lead];
      },
      documents: { all: () => [], put: () => undefined, remove: () => undefined },
      router: {
        async send({ body }) {
          sent.push(body);
          throw new Error("stored elsewhere");
        },
      },
    }),
  );
  await reported();
  broken = false;
  await until(() => sent.includes("done"), "the lead's words");
});

test("the follow-up of native inboxes, when the mailbox fails for a while", async () => {
  const { signal, report, run, reported } = surroundings();
  let broken = true;
  let looks = 0;
  const deliveriesIn = (): never[] => {
    if (broken) throw new Error("EIO");
    looks++;
    return [];
  };
  run(
    followUpInboxes({
      mailbox: {
        onTransitions: () => () => undefined,
        deliveriesIn,
        delivery: () => null,
        message: () => null,
        warn: async () => undefined,
        settle: async () => undefined as never,
      },
      ...{ agent: () => null, layout: "inboxes", report, signal, patienceMs: 20 },
    }),
  );
  await reported();
  broken = false;
  await until(() => looks > 0, "what lies there to be looked for");
});

test("an outbox, when its workspace is a file for a while", async () => {
  const { dir, signal, report, run, reported } = surroundings();
  const workspace = join(dir, "room");
  writeFileSync(workspace, "not a folder");
  const accepted: string[] = [];
  run(
    watchOutbox({
      workspace,
      signal,
      rescanMs: 20,
      onFault: (fault) => report("outbox", fault),
      accept: async ({ content }) => void accepted.push(content),
    }),
  );
  await reported();
  rmSync(workspace);
  mkdirSync(join(workspace, ".outbox"), { recursive: true });
  writeFileSync(join(workspace, ".outbox", "1.json"), '{"to":"a","content":"hello"}');
  await until(() => accepted.includes("hello"), "the file");
});

test("logs, when their folder is a file for a while and remembering fails", async () => {
  const { dir, signal, report, run, reported } = surroundings();
  const root = join(dir, "logs");
  writeFileSync(root, "not a folder");
  let broken = true;
  const found: string[] = [];
  run(
    tailLogs({
      ...{ root, pattern: "*.txt", signal, rescanMs: 20, plain: true },
      onFault: (fault) => report("logs", fault),
      offsets: {
        get: () => undefined,
        set() {
          if (broken) throw new Error("the disk is full");
        },
      },
      onMessage: async ({ content }) => void found.push(content),
    }),
  );
  rmSync(root);
  mkdirSync(root);
  appendFileSync(join(root, "a.txt"), "@a: hello\n@b: there\n\n");
  await reported();
  broken = false;
  await until(() => found.includes("hello"), "the message");
});

test("the socket for answers of Claude Code, when its folder comes later", async () => {
  const { dir, report, reports } = surroundings();
  await using replies = new ClaudeReplies({ report, agentAt: () => null } as unknown as ConstructorParameters<
    typeof ClaudeReplies
  >[0]);
  const socket = join(dir, "later", "session.sock");
  expect(await replies.beside(socket)).toBeNull();
  expect(reports).toHaveLength(1);
  mkdirSync(join(dir, "later"));
  const own = await replies.beside(socket);
  expect(existsSync(own!)).toBe(true);
});
