import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { keeping } from "../src/testing/keeping.ts";
import { aMomentWithin } from "../src/testing/moments.ts";
import { promptAgentPath, submissions } from "../src/testing/promptAgent.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { resultOf } from "../src/testing/childResult.ts";

const swarmMsg = join(import.meta.dir, "../bin/swarm-msg");
const keep = keeping();

const project = `team: files
agents:
  writer: { command: [sleep, "1000000"], workspace: rooms/writer, input: files, logs: "logs/*.txt" }
  reader: { command: [sleep, "1000000"], workspace: rooms/reader, input: files }
  typist: { command: [cat], workspace: rooms/typist }
`;

const aWorld = async (yaml = project, config?: object): Promise<World> =>
  keep(await startWorld({ files: { "tieline.yaml": yaml }, ...(config && { config }) }));

async function up(world: World): Promise<void> {
  const { code, stdout, stderr } = await world.tieline(["up"]);
  if (code !== 0) throw new Error(stdout + stderr);
}

interface InboxFile {
  readonly from: string;
  readonly author: string;
  readonly content: string;
  readonly seq: number;
  readonly timestamp: string;
  readonly id: string;
  readonly tag: string;
  readonly replyTo?: string;
}

const room = (world: World, name: string): string => join(world.project, "rooms", name);

function inboxOf(world: World, name: string): InboxFile[] {
  const directory = join(room(world, name), ".inbox");
  const names = existsSync(directory)
    ? readdirSync(directory)
        .filter((file) => /^\d.*\.json$/.test(file))
        .sort()
    : [];
  return names.map((file) => JSON.parse(readFileSync(join(directory, file), "utf8")) as InboxFile);
}

/** As a program would: complete under another name first. */
function put(world: World, name: string, file: string, entry: object | string): void {
  const outbox = join(room(world, name), ".outbox");
  mkdirSync(outbox, { recursive: true });
  writeFileSync(join(outbox, `.${file}`), typeof entry === "string" ? entry : JSON.stringify(entry));
  renameSync(join(outbox, `.${file}`), join(outbox, `${file}.json`));
}

async function swarm(world: World, name: string, ...argv: string[]): Promise<string> {
  const child = Bun.spawn([swarmMsg, ...argv], {
    env: { PATH: world.env["PATH"]!, SWARM_WORKSPACE: room(world, name) },
    stdout: "pipe",
    stderr: "pipe",
  });
  const { code, stdout, stderr } = await resultOf(child);
  if (code !== 0) throw new Error(`swarm-msg ${argv.join(" ")}: exit ${code} ${stderr}`);
  return stdout;
}

describe("agents with a workspace", () => {
  test("a file in the outbox is a message of the workspace's agent, and arrives as a file", async () => {
    const world = await aWorld();
    await up(world);
    put(world, "writer", "0001_reader", { to: "reader", content: "hello\nthere" });
    await until(() => inboxOf(world, "reader").length === 1, "the file in the reader's inbox");
    const [file] = inboxOf(world, "reader");
    expect(file).toEqual({
      from: "writer",
      author: "agent",
      content: "hello\nthere",
      seq: 1,
      timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
      id: expect.any(String),
      tag: expect.stringMatching(/^MSG_WRITER_/),
    });
    expect(await world.status(file!.tag)).toMatchObject({
      knownBy: "workspace",
      deliveries: [{ state: "delivered", proof: "written", transport: "workspace-inbox", authority: "peer" }],
    });
    expect(readdirSync(join(room(world, "writer"), ".outbox/.taken"))).toEqual([]);
  });

  test("ask finds its answer, whichever agent gives it and however", async () => {
    const world = await aWorld();
    await up(world);
    const asked = swarm(world, "writer", "ask", "-t", "30", "reader", "which port?");
    await until(() => inboxOf(world, "reader").length === 1, "the question");
    await swarm(world, "reader", "reply", inboxOf(world, "reader")[0]!.tag, "8080");
    expect(await asked).toBe("8080\n");

    const askedUser = swarm(world, "writer", "ask", "-t", "30", "user", "may I?");
    await until(async () => (await world.inbox("user")).length === 1, "the question to the user");
    const [question] = await world.inbox("user");
    await world.tieline(["reply", question!.tag, "you may"]);
    expect(await askedUser).toBe("you may\n");
  });

  test("what is delivered by another way is in the inbox, too", async () => {
    const world = await aWorld();
    await up(world);
    expect(await world.tieline(["send", "typist", "--wait", "delivered", "look at this"])).toMatchObject({ code: 0 });
    await until(() => inboxOf(world, "typist").length === 1, "the copy");
    expect(inboxOf(world, "typist")).toMatchObject([{ from: "user", content: "look at this" }]);
  });

  test("what cannot be sent is put aside with its reason, and the agent gets a notice in its inbox", async () => {
    const world = await aWorld(`${project}topology: ["writer -> reader"]\n`);
    await up(world);
    put(world, "writer", "0001_typist", { to: "typist", content: "not along an edge" });
    put(world, "writer", "0002_x", "[1, 2]");
    await until(() => inboxOf(world, "writer").length === 2, "two pieces of news");
    const [denied, broken] = inboxOf(world, "writer").toSorted((a, b) => a.content.localeCompare(b.content));
    expect(denied).toMatchObject({ from: "tieline", content: expect.stringContaining("ROUTE_DENIED") });
    expect(broken).toMatchObject({ from: "tieline", content: expect.stringContaining("0002_x.json") });
    expect(readdirSync(join(room(world, "writer"), ".outbox/.rejected")).sort()).toEqual([
      "0001_typist.json",
      "0001_typist.json.reason.txt",
      "0002_x.json",
      "0002_x.json.reason.txt",
    ]);
  });

  test("the list of whom it can write to follows the topology", async () => {
    const world = await aWorld(`${project}topology: ["writer -> reader"]\n`);
    await up(world);
    await until(() => existsSync(join(room(world, "writer"), ".inbox/.agents")), "the list");
    expect(await swarm(world, "writer", "list")).toBe("Agents you can message:\n  - reader\n");
    world.file("tieline.yaml", `${project}topology: ["writer -> reader", "writer -> typist"]\n`);
    await until(async () => (await swarm(world, "writer", "list")).includes("typist"), "the new edge in the list");
  });

  test("two agents cannot share a workspace, nor have one inside another", async () => {
    const world = await aWorld("team: files\n");
    const [first, second, third] = [await world.pane(["cat"]), await world.pane(["cat"]), await world.pane(["cat"])];
    const shared = join(world.dir, "shared");
    expect(await world.tieline(["adopt", first, "--name", "one", "--workspace", shared])).toMatchObject({ code: 0 });
    expect(await world.tieline(["adopt", second, "--name", "two", "--workspace", shared])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("already the workspace of files:one"),
    });
    expect(await world.tieline(["adopt", third, "--name", "three", "--workspace", join(shared, "deep")])).toMatchObject(
      { code: 3, stderr: expect.stringContaining("CONFLICT") },
    );
  });

  test("a log's messages are sent once, also over a kill of the daemon", async () => {
    const world = await aWorld();
    const log = world.file("logs/today.txt", "[2026-01-31 08:00:00] RES: @reader: from before it was ours\n");
    await up(world);
    appendFileSync(
      log,
      "[2026-01-31 09:00:00] RES: Done. @reader: one\n[2026-01-31 09:00:01] RES: " +
        "<<SWARM_MSG:TO=reader:START>>\ntwo, first ",
    );
    await until(() => inboxOf(world, "reader").length === 1, "the first message");
    await world.killDaemon();
    appendFileSync(log, "half and second half\n<<SWARM_MSG:END>>\n");
    world.file("logs/new.txt", "[2026-01-31 09:00:02] RES: @reader: three\n[2026-01-31 09:00:03] RES: .\n");
    await world.ls();
    await until(() => inboxOf(world, "reader").length === 3, "the messages from while the daemon was away");
    await world.killDaemon();
    await world.ls();
    appendFileSync(log, "[2026-01-31 09:00:04] RES: @reader: four\n[2026-01-31 09:00:05] RES: .\n");
    await until(() => inboxOf(world, "reader").some(({ content }) => content === "four"), "the last message");
    expect(
      inboxOf(world, "reader")
        .map(({ content }) => content)
        .sort(),
    ).toEqual(["four", "one", "three", "two, first half and second half"]);
    expect(await world.status(inboxOf(world, "reader")[0]!.tag)).toMatchObject({ from: "writer", knownBy: "stream" });
  });

  test("a program that speaks through its log gets notices in its pane about what was not sent", async () => {
    const heard = "heard";
    const world = await aWorld(
      `team: files\nagents:\n  logger: { command: [${process.execPath}, ${promptAgentPath}, ${heard}], logs: ` +
        `"logs/*.txt" }\n`,
    );
    await up(world);
    const log = world.file("logs/today.txt", "");
    appendFileSync(log, "[2026-01-31 09:00:00] RES: @unknown: hello\n[2026-01-31 09:00:01] RES: .\n");
    await until(() => submissions(join(world.project, heard)).length === 1, "the notice in its pane");
    expect(submissions(join(world.project, heard))[0]).toMatch(
      /^\[MSG_TIELINE_[0-9a-f]{8} from tieline.*\]\nyour message to unknown was not sent: /,
    );
    await until(async () => (await world.ls())[0]!.pending === 0, "no mail left");
  });

  test("every outbox file becomes one message, wherever the daemon is killed", async () => {
    const world = await aWorld(project, { guards: { perPairPerMinute: 1000, perSenderPerMinute: 1000 } });
    await up(world);
    const total = 60;
    let written = 0;
    for (const until of [15, 30, 45, total]) {
      for (; written < until; written++)
        put(world, "writer", `${String(written).padStart(4, "0")}_reader`, {
          to: "reader",
          content: `message ${written}`,
        });
      await aMomentWithin(40);
      await world.killDaemon();
      await world.ls();
    }
    await world.ls();
    await settled(world, total);
    const contents = inboxOf(world, "reader").map(({ content }) => content);
    expect(contents.toSorted()).toEqual(Array.from({ length: total }, (_, at) => `message ${at}`).toSorted());
    const log = await world.json<{ from: string }[]>(["log", "--limit", "1000"]);
    expect(log.filter(({ from }) => from === "writer").length).toBe(total);
  });

  test("an agent that removes its inbox gets its mail in a new one", async () => {
    const world = await aWorld();
    await up(world);
    await world.tieline(["send", "reader", "one"]);
    await until(() => inboxOf(world, "reader").length === 1, "the first file");
    rmSync(join(room(world, "reader"), ".inbox"), { recursive: true });
    await world.tieline(["send", "reader", "two"]);
    await until(() => inboxOf(world, "reader").length === 1, "the second file");
    expect(inboxOf(world, "reader")).toMatchObject([{ content: "two" }]);
  });
});

/** What a kill made uncertain stays so for a user to decide; here it must not happen at all. */
async function settled(world: World, total: number): Promise<void> {
  await until(
    async () =>
      inboxOf(world, "reader").length >= total &&
      readdirSync(join(room(world, "writer"), ".outbox/.taken")).length === 0,
    `${total} files in the inbox`,
    60_000,
  );
}
