import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Event, Fact } from "../../model/event.ts";
import { agentId, deliveryId, type MessageId, type Tag } from "../../model/ids.ts";
import { fromSubjectToken, publicationsOf, subjectToken } from "./subjects.ts";

const about = { agent: agentId("1"), name: "coder", team: "web" };
const along = { from: "user", to: "@all", team: "web", tag: "MSG_USER_00000001" as Tag };
const said = (fact: Fact, prefix = "tieline") =>
  publicationsOf({ ...fact, seq: 7, at: 0 } as Event, prefix, () => "the text");

describe("names in subjects", () => {
  test("a plain name stays as it is", () => {
    expect(subjectToken("Ana_2-b")).toBe("Ana_2-b");
  });

  test("any text is one token, and can be told back", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const token = subjectToken(text);
        expect(token).toMatch(/^[A-Za-z0-9_~-]+$/);
        expect(fromSubjectToken(token)).toBe(text);
      }),
    );
  });

  test.each(["", "~", ".", "*", ">", "a.b", "a b", "ü~7e"])("%j comes back", (text) => {
    expect(fromSubjectToken(subjectToken(text))).toBe(text);
  });
});

describe("subjects", () => {
  test("a message is said once to each recipient, with its text", () => {
    const publications = said({ type: "message.accepted", id: "m" as MessageId, ...along, recipients: ["ana", "bob"] });
    expect(publications.map(({ subject }) => subject)).toEqual(["tieline.msg.ana", "tieline.msg.bob"]);
    expect(publications[1]!.payload).toMatchObject({
      from: "user",
      to: "bob",
      content: "the text",
      team: "web",
      timestamp: "1970-01-01T00:00:00.000Z",
    });
  });

  test.each([
    [
      { type: "tool.call", ...about, tool: "Bash", input: { command: "ls" } },
      "tieline.tool.coder.call",
      { toolName: "Bash", input: { command: "ls" }, agent: "coder", team: "web" },
    ],
    [
      { type: "user.prompt", ...about, prompt: "do it" },
      "tieline.user.coder.prompt",
      { agent: "coder", text: "do it" },
    ],
    [
      { type: "agent.response", ...about, summary: "done" },
      "tieline.agent.coder.response",
      { agent: "coder", text: "done" },
    ],
    [
      { type: "message.sent", ...about, to: "a.b", content: "hi" },
      "tieline.msg.a~2eb",
      { from: "coder", to: "a.b", content: "hi" },
    ],
    [
      { type: "route.denied", from: "a", to: "b", team: "web", allowed: ["c"] },
      "tieline.route.web.denied",
      { from: "a", to: "b", allowed: ["c"] },
    ],
    [
      { type: "route.routed", ...along, recipients: ["ana"], allowed: ["*"] },
      "tieline.route.web.routed",
      { from: "user", recipients: ["ana"], allowed: ["*"] },
    ],
  ] as [Fact, string, object][])("%j", (fact, subject, payload) => {
    const [publication, ...more] = said(fact);
    expect(more).toEqual([]);
    expect(publication!.subject).toBe(subject);
    expect(publication!.payload).toMatchObject(payload);
  });

  test("a delivery is published by its agent and state, under any prefix", () => {
    const fact: Fact = {
      ...{
        type: "delivery.delivered",
        tag: along.tag,
        messageId: "m" as MessageId,
        agent: agentId("1"),
        agentName: "coder",
        team: "web",
        sender: "user",
        acceptedAt: 0,
      },
      ...{
        delivery: deliveryId(1),
        at: 0,
        verb: "settle",
        from: "claimed",
        to: "delivered",
        reason: null,
        detail: null,
        proof: "screen",
        transport: "tmux",
        authority: "user",
      },
    };
    expect(said(fact, "genie").map(({ subject }) => subject)).toEqual(["genie.delivery.coder.delivered"]);
    expect(said(fact)[0]!.payload).toMatchObject({
      tag: along.tag,
      proof: "screen",
      transport: "tmux",
      sender: "user",
    });
  });
});
