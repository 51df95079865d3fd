import { expect, test } from "bun:test";
import type { Mailbox } from "../../mailbox/port.ts";
import { agentId, type AgentId, type Clock } from "../../model/ids.ts";
import type { Draft, Message, Sender } from "../../model/message.ts";

const ana: Sender = { id: agentId("a-1"), name: "ana", team: "web", knownBy: "token" };
const bob = { id: agentId("b-1"), name: "bob" };
const cy = { id: agentId("c-1"), name: "cy" };

export interface Searched {
  readonly mailbox: Mailbox;
  readonly clock: Clock;
  wait(ms: number): void;
  /** A message that was not accepted yet, from the user when no sender is given. */
  message(body: string, from?: Sender, draft?: Partial<Draft>, reply?: Message | null): Message;
}

/** The part of the contract about finding messages: the log and inboxes. */
export function finding(subject: () => Searched): void {
  test("concurrent accepts keep the order in which they were asked for", async () => {
    const { mailbox, message } = subject();
    const bodies = Array.from({ length: 200 }, (_, index) => `n${index}`);
    await Promise.all(bodies.map((body) => mailbox.accept(message(body), [bob])));
    expect(mailbox.inbox(bob.id, { limit: 1_000 }).map((row) => row.message.body)).toEqual(bodies);
  });

  test("the log finds words and phrases, indexed or not, and forgets what is pruned", async () => {
    const { mailbox, message, clock } = subject();
    const texts = ["the login test fails on Safari", "Safari on login", "crème brûlée in auth.ts", "a -> b"];
    for (const body of texts) await mailbox.accept(message(body, ana), []);
    const found = (grep: string): string[] => mailbox.log({ grep }).map((one) => one.message.body);
    const expectAll = (): void => {
      expect(found("SAFARI login")).toEqual(texts.slice(0, 2));
      expect(found('"on safari"')).toEqual([texts[0]!]);
      expect(found("fail*")).toEqual([texts[0]!]);
      expect(found("fail")).toEqual([]);
      expect(found("creme auth.ts")).toEqual([texts[2]!]);
      expect(found("->")).toEqual([texts[3]!]);
      expect(found("login OR nothing")).toEqual([]);
    };
    expectAll();
    await mailbox.index(2);
    expectAll();
    await mailbox.index(100);
    expectAll();
    expect(await mailbox.index(100)).toBe(0);
    await mailbox.prune({ olderThan: clock() + 1, freshSince: clock() + 1, maxBytes: Infinity, batch: 100 });
    expect(found("safari")).toEqual([]);
    await mailbox.accept(message("Safari again", ana), []);
    expect(found("safari")).toEqual(["Safari again"]);
  });

  test("an inbox that is longer than asked for gives the newest, or the oldest, in order", async () => {
    const { mailbox, message } = subject();
    for (const body of ["1", "2", "3"]) await mailbox.accept(message(body), [bob]);
    const bodies = (oldest: boolean): string[] =>
      mailbox.inbox(bob.id, { limit: 2, oldest }).map((row) => row.message.body);
    expect([bodies(false), bodies(true)]).toEqual([
      ["2", "3"],
      ["1", "2"],
    ]);
  });

  test("the log and an inbox can be limited to a team", async () => {
    const { mailbox, message } = subject();
    const from = (body: string, sender: Sender, team: string): Message => ({ ...message(body, sender), team });
    await mailbox.accept(from("within", ana, "web"), [bob]);
    await mailbox.accept(from("into it", ana, "api"), [cy]);
    await mailbox.accept(from("elsewhere", ana, "api"), [bob]);
    const bodies = (members: readonly AgentId[]): string[] =>
      mailbox.log({ team: { name: "web", members } }).map((one) => one.message.body);
    expect([bodies([]), bodies([cy.id])]).toEqual([["within"], ["within", "into it"]]);
    const inbox = (filter: object): string[] => mailbox.inbox(bob.id, filter).map((one) => one.message.body);
    expect([inbox({ team: "api" }), inbox({ team: "web", pending: true }), inbox({})]).toEqual([
      ["elsewhere"],
      ["within"],
      ["within", "elsewhere"],
    ]);
  });

  test("the log finds by agent, thread, text and time", async () => {
    const { mailbox, message, wait, clock } = subject();
    const first = message("alpha ONE", ana);
    await mailbox.accept(first, [bob]);
    wait(1_000);
    const second = message("beta", undefined, {}, first);
    await mailbox.accept(second, [cy]);
    const bodies = (filter: Parameters<Mailbox["log"]>[0]): string[] =>
      mailbox.log(filter).map((one) => one.message.body);
    expect(bodies({ agent: ana.id as AgentId })).toEqual(["alpha ONE"]);
    expect(bodies({ agent: bob.id })).toEqual(["alpha ONE"]);
    expect(bodies({ agents: [ana.id as AgentId, cy.id] })).toEqual(["alpha ONE", "beta"]);
    expect(bodies({ agents: [cy.id], oldest: true, limit: 1 })).toEqual(["beta"]);
    expect(bodies({ agents: [] })).toEqual([]);
    expect(bodies({ thread: first.id })).toEqual(["alpha ONE", "beta"]);
    expect(bodies({ grep: "one" })).toEqual(["alpha ONE"]);
    expect(bodies({ since: clock() })).toEqual(["beta"]);
    expect(bodies({ limit: 1 })).toEqual(["beta"]);
    expect(bodies({ oldest: true, limit: 1 })).toEqual(["alpha ONE"]);
    expect(bodies({ after: first.id })).toEqual(["beta"]);
    expect(bodies({ before: first.id })).toEqual([]);
    expect(bodies({ before: second.id, limit: 1 })).toEqual(["alpha ONE"]);
    expect(bodies({ since: clock(), oldest: true })).toEqual(["beta"]);
  });
}
