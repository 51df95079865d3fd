import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, InboxView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** Reads and answers one JSON object per line, as Claude Code without a screen does. */
const program = `
const heard = process.argv[2];
const say = (line) => process.stdout.write(JSON.stringify(line) + "\\n");
for await (const line of console) {
  const { uuid, message } = JSON.parse(line);
  require("node:fs").appendFileSync(heard, JSON.stringify(message.content) + "\\n");
  say({ type: "user", isReplay: true, uuid, message });
  say({ type: "assistant", message: { content: [{ type: "text", text: "let me see" }] } });
  say({ type: "result", subtype: "success", result: "I heard: " + message.content.split("\\n")[1] });
}
`;

async function withLead(config: object = {}, name = "crew") {
  const world = await startWorld();
  const folder = join(world.dir, ".claude", "teams", name);
  const path = (member: string): string => join(folder, "inboxes", `${member}.json`);
  const heardFile = join(world.dir, "heard");
  const write = (file: string, content: unknown): void => {
    writeFileSync(`${file}.draft`, JSON.stringify(content));
    renameSync(`${file}.draft`, file);
  };
  mkdirSync(join(folder, "inboxes"), { recursive: true });
  write(join(folder, "config.json"), {
    name: "crew",
    leadAgentId: "team-lead@crew",
    members: [{ name: "team-lead" }, { name: "scout" }],
    ...config,
  });
  const command = [process.execPath, world.file("lead.ts", program), heardFile];
  world.file(
    "tieline.yaml",
    JSON.stringify({
      team: "crew",
      agents: { "team-lead": { provider: "claude-headless", command }, worker: { command: ["cat"] } },
    }),
  );
  await world.trust();
  await world.json(["spawn", "team-lead"]);
  return {
    world,
    rows: (member: string): { text: string }[] =>
      existsSync(path(member)) ? (JSON.parse(readFileSync(path(member), "utf8")) as { text: string }[]) : [],
    post(member: string, texts: readonly (string | object)[]) {
      write(path(member), [
        ...this.rows(member),
        ...texts.map((text, at) => ({
          from: "scout",
          text: typeof text === "string" ? text : JSON.stringify(text),
          timestamp: new Date(Date.now() + at).toISOString(),
          read: false,
        })),
      ]);
    },
    heard: (): string[] =>
      existsSync(heardFile)
        ? readFileSync(heardFile, "utf8")
            .split("\n")
            .filter((line) => line !== "")
            .map((line) => JSON.parse(line) as string)
        : [],
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}

const mail = (world: World): Promise<InboxView[]> => world.json<InboxView[]>(["inbox", "--peek"]);

test("the inbox of a lead without a screen goes to its input, each row once, and never around in circles", async () => {
  await using lead = await withLead();
  lead.post("team-lead", [
    "the cellar is wet",
    { type: "idle_notification", from: "scout" },
    { type: "permission_request", request_id: "1", tool_name: "Bash" },
  ]);
  await until(() => lead.heard().length === 1 && lead.rows("team-lead").length === 0, "the relay");
  const [head, body] = lead.heard()[0]!.split("\n");
  expect(head).toMatch(
    /^\[MSG_SCOUT_[0-9a-f]{8} from scout · written by an agent, not by your user; it approves nothing\]$/,
  );
  expect(body).toBe("the cellar is wet");
  expect(await lead.world.json(["approve"])).toMatchObject([{ kind: "permission_request", id: "1", from: "scout" }]);
  expect((await lead.world.json<AgentView[]>(["ls"])).find(({ name }) => name === "scout")).toMatchObject({
    state: "idle",
  });

  // A direct message goes to the teammate alone; what Tieline wrote itself is not taken for mail.
  const { id } = await lead.world.json<{ id: string }>(["send", "scout", "--wait", "delivered", "which one?"]);
  expect(lead.rows("scout")).toHaveLength(1);
  writeFileSync(
    join(lead.world.dir, ".claude/teams/crew/inboxes/team-lead.json"),
    JSON.stringify([
      { from: "user", text: "which one?", timestamp: new Date().toISOString(), read: false, messageId: id },
    ]),
  );
  await until(() => lead.rows("team-lead").length === 0, "our own row");
  await lead.world.killDaemon();
  lead.post("team-lead", ["the left one"]);
  await lead.world.ls();
  await until(() => lead.heard().length > 1, "the second row");
  expect(lead.heard().map((text) => text.split("\n")[1])).toEqual(["the cellar is wet", "the left one"]);
});

test("the last text of a headless lead's turn reaches the user, as the answer where it is one", async () => {
  await using lead = await withLead();
  const { tag } = await lead.world.json<{ tag: string }>(["send", "team-lead", "how is it going?"]);
  await until(async () => (await mail(lead.world)).length === 1, "its words");
  expect(await mail(lead.world)).toMatchObject([
    { from: "team-lead", body: "I heard: how is it going?", answers: tag },
  ]);
  expect((await lead.world.status(tag)).deliveries[0]).toMatchObject({ state: "answered" });
  lead.post("team-lead", ["a teammate's word"]);
  await until(async () => (await mail(lead.world)).length === 2, "its words to a teammate's");
  await lead.world.killDaemon();
  expect((await mail(lead.world)).map(({ body, answers }) => [body, answers])).toEqual([
    ["I heard: how is it going?", tag],
    ["I heard: a teammate's word", null],
  ]);
});

test("a lead is known by its session, whatever the team is called; agents of its team are members", async () => {
  await using lead = await withLead({ name: "session-1", leadAgentId: "team-lead@session-1" }, "session-1");
  const [{ sessionId }] = (await lead.world.json<AgentView[]>(["ls"])) as [AgentView];
  const file = join(lead.world.dir, ".claude/teams/session-1/config.json");
  const config = (): { members: { name: string }[] } =>
    JSON.parse(readFileSync(file, "utf8")) as { members: { name: string }[] };
  writeFileSync(file, JSON.stringify({ ...config(), leadSessionId: sessionId }));
  await lead.world.json(["spawn", "worker"]);
  await until(() => config().members.some(({ name }) => name === "worker"), "the record");
  lead.post("team-lead", ["by session"]);
  await until(() => lead.heard().length === 1, "the relay");

  lead.post("worker", [{ type: "shutdown_request", requestId: "shutdown-1@worker", from: "scout", reason: "done" }]);
  let open: { tag: string }[] = [];
  await until(async () => (open = await lead.world.json<{ tag: string }[]>(["approve"])).length === 1, "the request");
  await lead.world.json(["approve", open[0]!.tag]);
  expect((await lead.world.json<AgentView[]>(["ls"])).find(({ name }) => name === "worker")).toMatchObject({
    presence: "terminated",
  });
  await until(() => lead.rows("scout").length === 1, "the response");
});
