import { beforeAll, describe, expect, test } from "bun:test";
import { methods } from "./wire.ts";
import { definitions, operationNames, type Operations } from "./operations/index.ts";
import type { Caller, OperationName } from "./schema.ts";
import { digestOf } from "../agents/directory/token.ts";
import { Directory } from "../agents/directory/directory.ts";
import { memoryDocuments } from "../agents/directory/documents/memory.ts";
import { memoryStore } from "../mailbox/memory/store.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import { permissions, userId, userName, type Agent, type Permission } from "../model/agent.ts";
import { TielineError } from "../model/errors.ts";
import { seal } from "../model/message.ts";
import { openTopology } from "../routing/topology/topology.ts";
import { Callers } from "./callers.ts";
import { guarded, Rights } from "./rights.ts";
import { readEndpoints } from "../testing/agents.ts";

/**
 * bob got a message from ana. `lead` spawned bob, `auditor` may read its team, `other` may read another team; the
 * agents that are named after a permission have just that.
 */
const permitted = permissions.filter((one) => one !== "read");
const roles = ["user", "ana", "bob", "stranger", "lead", "auditor", "other", ...permitted] as const;
type Role = (typeof roles)[number];

/**
 * Who may call each operation about bob, and about the message that bob got. Written down, so that a change is a
 * choice.
 */
const readers: readonly Role[] = ["user", "bob", "lead", "auditor"];
const everyone = roles;
const withRight = (right: Permission): readonly Role[] => ["user", right as Role];
const expected: Readonly<Record<OperationName, readonly Role[]>> = {
  send: everyone,
  reply: [...readers, "ana"],
  show: [...readers, "ana"],
  status: [...readers, "ana"],
  wait: [...readers, "ana"],
  awaitAnswer: [...readers, "ana"],
  cancel: [...readers, "ana"],
  retry: [...readers, "ana"],
  inbox: readers,
  collect: everyone,
  collected: everyone,
  log: everyone,
  logCount: everyone,
  lastMessages: everyone,
  dead: everyone,
  ls: everyone,
  adopt: ["user"],
  register: withRight("spawn"),
  whoami: everyone,
  rm: withRight("kill"),
  prune: withRight("kill"),
  read: readers,
  readNext: readers,
  explain: readers,
  dialog: withRight("answer"),
  place: everyone,
  layout: withRight("spawn"),
  up: withRight("spawn"),
  down: withRight("kill"),
  spawn: withRight("spawn"),
  stop: withRight("kill"),
  kill: withRight("kill"),
  restart: withRight("kill"),
  resume: withRight("spawn"),
  interrupt: withRight("kill"),
  choose: withRight("answer"),
  discover: ["user"],
  events: everyone,
  activity: everyone,
  statistics: ["user"],
  edges: ["user"],
  export: everyone,
  hook: everyone,
  hookWritten: everyone,
  doctor: everyone,
  daemonStatus: everyone,
  daemonStop: withRight("kill"),
  resolve: everyone,
  topology: everyone,
  topologyAdd: withRight("topology"),
  topologyRemove: withRight("topology"),
  topologyCheck: everyone,
  topologyExport: everyone,
  teams: everyone,
  team: everyone,
  teamCreate: withRight("spawn"),
  teamJoin: withRight("topology"),
  teamLeave: withRight("topology"),
  teamRename: withRight("topology"),
  teamDisband: withRight("kill"),
  teamShutdown: withRight("kill"),
  profiles: everyone,
  profile: everyone,
  profileAdd: ["user"],
  profileRemove: ["user"],
  trustShow: ["user"],
  trust: ["user"],
  note: everyone,
  requests: withRight("answer"),
  answerRequest: withRight("answer"),
  metrics: everyone,
  dash: ["user"],
  devices: ["user"],
  devicesRevoke: ["user"],
  preferences: ["user"],
  preferencesSet: ["user"],
  typeKeys: ["user"],
  backup: ["user"],
};

/** They all call from team web. */
class CallersInWeb extends Callers {
  override teamOf(): string {
    return "web";
  }
}

let guardedOperations: Operations;
let rights: Rights;
let tag: string;
let agents: Map<string, Agent>;

beforeAll(async () => {
  const directory = new Directory(memoryDocuments(), () => undefined, readEndpoints);
  const mailbox = openMailbox(memoryStore(), {});
  const register = (name: string, more: Partial<Agent> = {}): Agent =>
    directory.register({ name, team: "web", provider: "generic", tokenDigest: digestOf(name), ...more });
  const named = ["ana", "stranger", "lead"].map((name) => register(name));
  const leadId = named.at(-1)!.id;
  agents = new Map(
    [
      ...named,
      register("bob", { startedBy: leadId }),
      register("auditor", { may: ["read"] }),
      register("other", { may: ["read"], team: "api" }),
      ...permitted.map((right) => register(`may-${right}`, { may: [right], tokenDigest: digestOf(right) })),
    ].map((agent) => [agent.name, agent]),
  );
  const { id, name, team } = agents.get("ana")!;
  const message = seal(
    { to: "bob", body: "hello" },
    { id, name, team, knownBy: "token" },
    { inReplyTo: null, hops: 0 },
  );
  await mailbox.accept(message, [agents.get("bob")!]);
  tag = message.tag;
  const lookups = { roster: directory.roster, topology: openTopology };
  const resolve = (address: string) => ({ agents: [directory.roster.named("web", address)!], missing: [] });
  const [objects, native] = [{ see: () => undefined }, { makeRoom: () => undefined }];
  const claims = { seatOf: () => ({ team: "web", project: null, heldBy: null }), claim: () => undefined };
  const parts = {
    directory,
    mailbox,
    lookups,
    resolve,
    objects,
    native,
    teams: { claims },
    processes: { read: async () => undefined },
  };
  const callers = new CallersInWeb(parts as never, "the user's token");
  rights = new Rights(parts as never);
  const ran = Object.fromEntries(operationNames.map((one) => [one, async () => "ran"])) as unknown as Operations;
  guardedOperations = guarded(ran, callers, rights, parts as never);
});

const callerOf = (role: Role): Caller =>
  role === "user" ? { userToken: "the user's token", team: "web" } : { token: role, team: "web" };

async function outcome(name: OperationName, role: Role): Promise<string> {
  const run = guardedOperations[name] as unknown as (input: unknown, call: unknown) => Promise<string>;
  try {
    return await run({ tag, agent: "bob" }, { caller: callerOf(role) });
  } catch (thrown) {
    if (thrown instanceof TielineError) return thrown.code;
    throw thrown;
  }
}

describe("who may call an operation", () => {
  test("every operation has a rule, and is in the table", () => {
    expect<string[]>(operationNames.toSorted()).toEqual(Object.keys(methods).toSorted());
    expect(Object.keys(expected).toSorted()).toEqual(Object.keys(methods).toSorted());
  });

  test.each(Object.keys(expected) as OperationName[])("%s", async (name) => {
    const found = await Promise.all(roles.map(async (role) => [role, await outcome(name, role)]));
    const refusal = definitions[name].access === "message" ? "MESSAGE_UNKNOWN" : "NOT_PERMITTED";
    expect(found).toEqual(roles.map((role) => [role, expected[name].includes(role) ? "ran" : refusal]));
  });

  test.each(operationNames.filter((name) => definitions[name].access !== "open"))(
    "%s is refused without an identity",
    async (name) => {
      const run = guardedOperations[name] as unknown as (input: unknown, call: unknown) => Promise<string>;
      for (const caller of [{}, { token: "no such token" }, { userToken: "no such token" }]) {
        expect(await run({ tag, agent: "bob" }, { caller }).catch((thrown: TielineError) => thrown.code)).toBe(
          "IDENTITY_UNKNOWN",
        );
      }
    },
  );

  test("without a name, an operation about an agent is about the caller", async () => {
    const run = guardedOperations.inbox as unknown as (input: unknown, call: unknown) => Promise<string>;
    expect(await run({}, { caller: callerOf("stranger") })).toBe("ran");
  });
});

describe("what is read", () => {
  const sender = (name: string) => ({
    id: agents.get(name)!.id,
    name,
    team: agents.get(name)!.team,
    knownBy: "token" as const,
  });

  test("only the user reads the user's mail", () => {
    for (const name of ["bob", "lead", "auditor"]) expect(rights.reads(sender(name), userId)).toBe(false);
    expect(rights.reads({ id: userId, name: userName, team: "web", knownBy: "user" }, agents.get("bob")!.id)).toBe(
      true,
    );
  });

  test("may: [read] ends at the team", () => {
    expect(rights.reads(sender("auditor"), agents.get("other")!.id)).toBe(false);
    expect(rights.reads(sender("other"), agents.get("bob")!.id)).toBe(false);
  });
});
