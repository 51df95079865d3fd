import { afterEach, describe, expect, test } from "bun:test";
import { objectTeam, type ObjectTeam } from "../testing/objectTeam.ts";
import { turnText } from "./hooks/handlers/turnText.ts";
import { readHookCall } from "../providers/hooks/hookCall.ts";
import { ownIdOf, Submissions } from "./submissions.ts";
import { speaking } from "../testing/hookCalls.ts";

const teams: ObjectTeam[] = [];
afterEach(async () => {
  for (const team of teams.splice(0)) await team[Symbol.asyncDispose]();
});

async function aTeam(
  yaml = "",
  getsNotices = true,
): Promise<ObjectTeam & { submissions: Submissions; told: string[] }> {
  const team = await objectTeam();
  teams.push(team);
  team.configure(yaml);
  const told: string[] = [];
  const submissions = new Submissions({
    mailbox: team.mailbox,
    router: team.router,
    getsNotices: () => getsNotices,
    report: (_, fault) => void told.push((fault as Error).message),
  });
  return { ...team, submissions, told };
}

describe("submissions", () => {
  test("the same key is the same message, whatever has changed since", async () => {
    const { submissions, agent, inbox, directory } = await aTeam();
    const [writer, coder] = [agent("writer"), agent("coder")];
    await submissions.fromOutbox(writer, { to: "coder", content: "once" }, "0001~a");
    directory.update(coder.id, { name: "renamed" });
    await submissions.fromOutbox(writer, { to: "coder", content: "once" }, "0001~a");
    await submissions.fromText(writer, { to: "renamed", content: "said" }, "k");
    await submissions.fromText(writer, { to: "renamed", content: "said otherwise" }, "k");
    expect((await inbox(coder, 2)).map(({ body, from }) => [body, from.knownBy])).toEqual([
      ["once", "workspace"],
      ["said", "stream"],
    ]);
  });

  test("a reply goes to the sender, and only for a message that was received", async () => {
    const { submissions, agent, send, inbox } = await aTeam();
    const [writer, coder, third] = [agent("writer"), agent("coder"), agent("third")];
    const { receipt } = await send({ to: "writer", body: "question" }, coder);
    await submissions.fromOutbox(writer, { to: "coder", content: "answer", replyTo: receipt.message.tag }, "1");
    expect(await inbox(coder, 1)).toMatchObject([{ body: "answer", inReplyTo: receipt.message.id }]);
    await expect(
      submissions.fromOutbox(third, { to: "coder", content: "me, too", replyTo: receipt.message.tag }, "2"),
    ).rejects.toMatchObject({ code: "MESSAGE_UNKNOWN" });
  });

  test("the sender's own name for its message is kept with it", async () => {
    const { submissions, agent, inbox } = await aTeam();
    await expect(
      submissions.fromOutbox(agent("writer"), { to: "coder", content: "x", id: "ask-1#2" }, "0001_coder.json~k"),
    ).rejects.toMatchObject({ code: "ADDRESS_UNKNOWN" });
    agent("coder");
    await submissions.fromOutbox(agent("writer"), { to: "coder", content: "x", id: "ask-1#2" }, "0001_coder.json~k");
    expect(ownIdOf((await inbox(agent("coder"), 1))[0]!)).toBe("ask-1#2");
  });

  test("@name is a group where there is one, and else the agent", async () => {
    const { submissions, agent, inbox } = await aTeam("aliases: { both: [coder, third] }\n");
    const [writer, coder, third] = [agent("writer"), agent("coder"), agent("third")];
    await submissions.fromOutbox(writer, { to: "@both", content: "to both" }, "1");
    await submissions.fromOutbox(writer, { to: "@coder", content: "to one" }, "2");
    expect((await inbox(coder, 2)).map(({ body }) => body)).toEqual(["to both", "to one"]);
    expect((await inbox(third, 1)).map(({ body }) => body)).toEqual(["to both"]);
  });

  test("the writer of a text that cannot be sent gets a notice, which starts no turn", async () => {
    const { submissions, agent, inbox, told } = await aTeam();
    const writer = agent("writer");
    await submissions.fromText(writer, { to: "unknown", content: "x" }, "k");
    expect(await inbox(writer, 1)).toMatchObject([
      { kind: "bounce", from: { name: "tieline" }, body: expect.stringContaining("unknown") },
    ]);
    expect(told.join()).toContain("unknown");
  });

  test("a writer that would never read a notice gets a message", async () => {
    const { submissions, agent, inbox } = await aTeam("", false);
    const writer = agent("writer");
    await submissions.fromText(writer, { to: "unknown", content: "x" }, "k");
    expect(await inbox(writer, 1)).toMatchObject([
      { kind: "text", from: { name: "tieline" }, body: expect.stringContaining("unknown") },
    ]);
  });

  test("a writer that repeats its mistake gets eight notices, and more after other mail", async () => {
    const { submissions, agent, mailbox, told, send } = await aTeam();
    const writer = agent("writer");
    const notices = (): number =>
      mailbox.inbox(writer.id, { limit: 100 }).filter(({ message }) => message.kind === "bounce").length;
    for (let at = 0; at < 20; at++) await submissions.fromText(writer, { to: "unknown", content: "x" }, `k${at}`);
    expect([notices(), told.length]).toEqual([8, 9]);
    await send({ to: "writer", body: "how is it?" }, agent("coder"));
    await submissions.fromText(writer, { to: "unknown", content: "x" }, "k20");
    expect(notices()).toBe(9);
  });

  test("the last message of a turn is read where the profile asks for it, and nowhere else", async () => {
    const { submissions, agent, inbox } = await aTeam();
    const [writer, coder] = [agent("writer"), agent("coder")];
    const said = {
      hook_event_name: "Stop",
      session_id: "s",
      last_assistant_message: "All done. @coder: please look\n```\n@coder: not this\n```",
    };
    await turnText(
      submissions,
      () => false,
      () => 7,
    ).handle(readHookCall(speaking("claude-code"), said)!, writer);
    await turnText(
      submissions,
      () => true,
      () => 7,
    ).handle(readHookCall(speaking("claude-code"), { ...said, agent_id: "sub" })!, writer);
    await turnText(
      submissions,
      () => true,
      () => 7,
    ).handle(readHookCall(speaking("claude-code"), said)!, writer);
    expect((await inbox(coder, 1)).map(({ body }) => body)).toEqual(["please look\n```\n@coder: not this\n```"]);
  });
});
