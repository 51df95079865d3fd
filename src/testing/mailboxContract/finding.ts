import { expect, test } from "bun:test";
import type { LogFilter, Mailbox } from "../../mailbox/port.ts";
import type { DeliveryState } from "../../model/delivery.ts";
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
    expect(bodies({ until: clock() })).toEqual(["alpha ONE"]);
    expect(bodies({ from: ana.id as AgentId, to: bob.id })).toEqual(["alpha ONE"]);
    expect(bodies({ from: ana.id as AgentId, to: cy.id })).toEqual([]);
  });

  test("the log finds by the state of a delivery", async () => {
    const { mailbox, message } = subject();
    const [one] = (await mailbox.accept(message("cancelled for bob"), [bob, cy])).deliveries;
    await mailbox.cancel(one!.messageId, bob.id);
    await mailbox.accept(message("waits"), [bob]);
    const bodies = (...states: DeliveryState[]): string[] => mailbox.log({ states }).map((found) => found.message.body);
    expect(bodies("queued")).toEqual(["cancelled for bob", "waits"]);
    expect(bodies("cancelled", "failed")).toEqual(["cancelled for bob"]);
    expect(bodies("seen", "answered")).toEqual([]);
    expect(bodies()).toEqual([]);
  });

  test("the log counts what it would list, each message once", async () => {
    const { mailbox, message, wait, clock } = subject();
    const teamed = (body: string, team: string): Message => ({ ...message(body, ana), team });
    const first = teamed("alpha one", "web");
    await mailbox.accept(first, [bob, cy]);
    wait(1_000);
    for (const body of ["beta one", "beta two"]) await mailbox.accept(teamed(body, "api"), [cy]);
    const filters: LogFilter[] = [
      {},
      { agent: cy.id },
      { agents: [bob.id, cy.id] },
      { from: ana.id },
      { to: cy.id },
      { from: ana.id, to: bob.id },
      { states: ["queued"] },
      { states: ["queued", "cancelled"] },
      { states: [] },
      { team: { name: "web", members: [] } },
      { team: { name: "api", members: [bob.id] } },
      { team: { name: "other", members: [ana.id] } },
      { grep: "one" },
      { grep: "one", team: { name: "web", members: [] }, states: ["queued"], since: 0 },
      { since: clock() },
      { until: clock() },
      { after: first.id },
      { before: first.id },
      { thread: first.id },
    ];
    const counts = (): number[] => filters.map((filter) => mailbox.logCount(filter));
    const lengths = (): number[] => filters.map((filter) => mailbox.log({ ...filter, limit: 100 }).length);
    expect(counts()).toEqual(lengths());
    expect(counts().slice(0, 3)).toEqual([3, 3, 3]);
    await mailbox.index(100);
    expect(counts()).toEqual(lengths());
  });

  test("the last message of an agent is the newest that it sent or was sent", async () => {
    const { mailbox, message, wait } = subject();
    expect(mailbox.lastMessage(bob.id)).toBeNull();
    await mailbox.accept(message("to bob", ana), [bob]);
    wait(1_000);
    await mailbox.accept(message("to cy", ana), [cy]);
    const last = (agent: AgentId): string | undefined => mailbox.lastMessage(agent)?.body;
    expect([last(ana.id), last(bob.id), last(cy.id)]).toEqual(["to cy", "to bob", "to cy"]);
    expect(mailbox.nameOf(ana.id)).toEqual({ name: "ana", team: "web" });
    expect(mailbox.nameOf(bob.id)).toEqual({ name: "bob", team: null });
    expect(mailbox.nameOf(agentId("unknown"))).toBeNull();
  });
}
