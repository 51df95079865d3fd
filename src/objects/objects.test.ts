import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isLive } from "../model/agent.ts";
import { objectTeam, type ObjectTeam } from "../testing/objectTeam.ts";
import { objectId } from "./objects.ts";

const parrot = join(import.meta.dir, "../../fixtures/objects/parrot.ts");
const teams: ObjectTeam[] = [];
afterEach(async () => {
  for (const team of teams.splice(0)) await team[Symbol.asyncDispose]();
});

async function aTeam(yaml: string, root?: string): Promise<ObjectTeam> {
  const team = await objectTeam(root);
  teams.push(team);
  team.configure(yaml);
  return team;
}

/** Mail for it waits: it never becomes ready. */
const sleepyParrot = `objects:\n  parrot: { module: sleepy.ts, timeoutMs: 60000 }\n`;
const sleepy = "export const init = () => new Promise(() => {});\nexport const onMessage = () => {};\n";
const oneParrot = `objects:\n  parrot: { module: "${parrot}" }\n`;

describe("objects of a project", () => {
  test("an object is in the roster before its code runs, and its first message starts it", async () => {
    const { directory, send, until } = await aTeam(oneParrot);
    const object = directory.roster.named("web", "parrot")!;
    expect(object).toMatchObject({ kind: "object", id: objectId("web", "parrot"), note: null });
    expect(isLive(object)).toBe(true);
    const { receipt } = await send({ to: "parrot", body: "nothing" });
    expect(await until(receipt.message, ({ state }) => state === "seen")).toMatchObject({
      proof: "reply",
      transport: "object",
    });
    expect(directory.roster.named("web", "parrot")!.note).toContain("reply");
  });

  test("a reply answers the message, and goes to its sender", async () => {
    const { agent, send, until, inbox } = await aTeam(oneParrot);
    const coder = agent("coder");
    const { receipt } = await send({ to: "parrot", body: "reply hello" }, coder);
    expect((await until(receipt.message, ({ state }) => state === "answered")).proof).toBe("reply");
    expect(await inbox(coder, 1)).toMatchObject([
      { body: "coder: hello", inReplyTo: receipt.message.id, from: { name: "parrot", knownBy: "object" } },
    ]);
  });

  test("the topology applies to objects", async () => {
    const { agent, send, inbox } = await aTeam(
      `${oneParrot}agents: { coder: { command: "true", autostart: false }, boss: { command: "true", ` +
        `autostart: false } }\ntopology: ["parrot -> coder", "boss -> parrot"]\n`,
    );
    const [coder, boss] = [agent("coder"), agent("boss")];
    await send({ to: "parrot", body: "try boss" }, boss);
    await send({ to: "parrot", body: "broadcast all clear" }, boss);
    expect(await inbox(boss, 1)).toMatchObject([{ body: "ROUTE_DENIED" }]);
    expect(await inbox(coder, 1)).toMatchObject([{ body: "all clear", to: "@all" }]);
  });

  test("a broadcast reaches objects beside agents, but neither its sender nor a system object", async () => {
    const { agent, send } = await aTeam(
      `objects:\n  parrot: { module: "${parrot}" }\n  polly: { module: "${parrot}" }\n  metrics:\n`,
    );
    const { receipt } = await send({ to: "@all", body: "nothing" }, agent("coder"));
    expect(receipt.deliveries.map(({ agentName }) => agentName).toSorted()).toEqual(["parrot", "polly"]);
  });

  test("a permanent refusal is a dead letter, and its sender gets a bounce", async () => {
    const { agent, send, until, inbox } = await aTeam(oneParrot);
    const coder = agent("coder");
    const { receipt } = await send({ to: "parrot", body: "refuse" }, coder);
    expect(await until(receipt.message, ({ state }) => state === "failed")).toMatchObject({ detail: "parrot: never" });
    expect(await inbox(coder, 1)).toMatchObject([{ kind: "bounce" }]);
  });

  test("a handler that hangs leaves its message uncertain; the next one is served by a new handler", async () => {
    const { send, until, inbox } = await aTeam(`objects:\n  parrot: { module: "${parrot}", timeoutMs: 1500 }\n`);
    const stuck = await send({ to: "parrot", body: "spin" });
    await send({ to: "parrot", body: "heard" });
    expect((await until(stuck.receipt.message, ({ state }) => state === "uncertain")).detail).toContain(
      "more than 1500 ms",
    );
    expect(await inbox(null, 1)).toMatchObject([{ body: "1" }]);
  });

  test("a missing module bounces its mail with the reason, and serves the next once it is there", async () => {
    const team = await aTeam(`objects:\n  parrot: { module: missing.ts }\n`);
    const lost = await team.send({ to: "parrot", body: "nothing" });
    expect((await team.until(lost.receipt.message, ({ state }) => state === "failed")).detail).toContain(
      "missing.ts: the file does not exist",
    );
    team.configure(oneParrot);
    const { receipt } = await team.send({ to: "parrot", body: "nothing" });
    await team.until(receipt.message, ({ state }) => state === "seen");
  });

  test("a program that never becomes ready bounces its mail after three starts, with its last words", async () => {
    const team = await aTeam(`objects:\n  parrot: { command: ["sh", "-c", "echo no such port >&2; exit 3"] }\n`);
    const { receipt } = await team.send({ to: "parrot", body: "nothing" });
    const { detail } = await team.until(receipt.message, ({ state }) => state === "failed");
    expect(detail).toBe("parrot cannot be loaded: it ended with exit code 3: no such port");
  });

  test("removing an object from the file fails its mail and takes it from the roster", async () => {
    const team = await aTeam("");
    team.file("sleepy.ts", sleepy);
    team.configure(sleepyParrot);
    const { receipt } = await team.send({ to: "parrot", body: "nothing" });
    await team.until(receipt.message, ({ reason }) => reason === "starting");
    team.configure("");
    await team.until(receipt.message, ({ state }) => state === "failed");
    await team.objects.close();
    expect(team.directory.roster.named("web", "parrot")).toBeNull();
  });

  test("a file that became wrong changes nothing", async () => {
    const team = await aTeam(oneParrot);
    team.configure("objects: [");
    expect(team.directory.roster.named("web", "parrot")).not.toBeNull();
    expect(team.faults.join()).toContain("tieline.yaml");
  });

  test("mail that waited over a restart reaches the object of the same name", async () => {
    const root = mkdtempSync(join(tmpdir(), "tl-objects-"));
    const first = await objectTeam(root);
    first.file("sleepy.ts", sleepy);
    first.configure(sleepyParrot);
    const { receipt } = await first.send({ to: "parrot", body: "reply after all" });
    await first.until(receipt.message, ({ reason }) => reason === "starting");
    await first[Symbol.asyncDispose]();
    const second = await aTeam(oneParrot, root);
    await second.until(receipt.message, ({ state }) => state === "answered");
    rmSync(root, { recursive: true, force: true });
  });

  test("a late watcher of an object gets its readiness", async () => {
    const { objects, directory, send, until } = await aTeam(oneParrot);
    const { receipt } = await send({ to: "parrot", body: "nothing" });
    await until(receipt.message, ({ state }) => state === "seen");
    const heard = Promise.withResolvers<void>();
    using _ = objects.watch(directory.roster.named("web", "parrot")!.id, heard.resolve);
    await heard.promise;
  });

  test("a program in any language is an object", async () => {
    const team = await aTeam(`objects:\n  parrot: { command: ["sh", "parrot.sh"] }\n`);
    team.file(
      "parrot.sh",
      `while read -r line; do
        id=$(printf '%s' "$line" | sed -n 's/.*"id":"\\([^"]*\\)".*/\\1/p')
        case $line in
          *'"type":"init"'*) echo '{"type":"ready"}' ;;
          *'"type":"message"'*) echo '{"type":"reply","id":"'$id'","content":"from sh"}'
            echo '{"type":"done","id":"'$id'"}' ;;
        esac
      done`,
    );
    await team.send({ to: "parrot", body: "anything" });
    expect(await team.inbox(null, 1)).toMatchObject([{ body: "from sh" }]);
  });
});
