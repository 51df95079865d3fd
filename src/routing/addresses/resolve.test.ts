import { describe, expect, test } from "bun:test";
import { IndexedRoster, userAgent } from "../../agents/directory/roster.ts";
import { type Agent, userId } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { anAgent, offline, paneEndpoint, suspended } from "../../testing/agents.ts";
import { aProfile } from "../../testing/profiles.ts";
import { parseEdge } from "../topology/edge.ts";
import { topologyOf } from "../topology/topology.ts";
import { explain, resolve } from "./resolve.ts";
import type { Lookups } from "./rules.ts";

const me = anAgent({ name: "me" });

interface World {
  readonly agents?: readonly Agent[];
  readonly profiles?: readonly Profile[];
  readonly edges?: readonly string[];
  readonly aliases?: Readonly<Record<string, readonly string[]>>;
  readonly natives?: readonly Agent[];
  readonly nativesAreOwn?: boolean;
}

function lookups({
  agents = [],
  profiles = [],
  edges,
  aliases = {},
  natives = [],
  nativesAreOwn = true,
}: World): Lookups {
  const roster = new IndexedRoster();
  for (const agent of [me, ...agents]) roster.put(agent);
  return {
    roster,
    profile: (_, name) => profiles.find((profile) => profile.name === name) ?? null,
    profileNames: () => profiles.map(({ name }) => name),
    topology: (team) => topologyOf({ team, edges: edges?.flatMap((edge) => parseEdge(edge, team)) ?? null }),
    alias: (_, name) => aliases[name] ?? null,
    aliasNames: () => Object.keys(aliases),
    nativeMembers: (_asker, _team, name) => ({
      agents: natives.filter((one) => one.name === name),
      own: nativesAreOwn,
    }),
  };
}

function resolved(text: string, world: World, asker: Agent = me): { rule: string; names: string[]; start: string[] } {
  const { rule, agents, startable } = resolve(text, asker, lookups(world));
  return { rule, names: agents.map(({ name }) => name), start: startable.map(({ name }) => name) };
}

function refusal(text: string, world: World): TielineError {
  try {
    resolve(text, me, lookups(world));
  } catch (error) {
    if (error instanceof TielineError) return error;
    throw error;
  }
  throw new Error(`${text} was resolved`);
}

const id = "01890000-0000-7000-8000-000000000001";
const hit = (rule: string, ...names: string[]) => ({ rule, names, start: [] });

describe("one recipient", () => {
  const coder = anAgent({ name: "coder", id, role: "engineer", endpoints: [paneEndpoint("%7")] });

  test("user is the user, whatever the team", () => {
    expect(resolve("user", me, lookups({})).agents[0]!.id).toBe(userId);
  });

  test("by id, name, role, pane, and with the team's prefix", () => {
    const world = { agents: [coder, anAgent({ name: "lead", team: "feat/auth", role: "boss" })] };
    expect(resolved(id, world)).toEqual(hit("live", "coder"));
    expect(resolved("coder", world)).toEqual(hit("live", "coder"));
    expect(resolved("engineer", world)).toEqual(hit("live", "coder"));
    expect(resolved("%7", world)).toEqual(hit("pane", "coder"));
    expect(resolved("feat/auth:lead", world)).toEqual(hit("live", "lead"));
    expect(resolved("feat/auth:boss", world)).toEqual(hit("live", "lead"));
  });

  test("a profile's live agent comes first, even under another name", () => {
    const bob = anAgent({ name: "bob", profile: "engineer" });
    const role = anAgent({ name: "eve", role: "engineer" });
    expect(resolved("engineer", { agents: [role, bob], profiles: [aProfile({ name: "engineer" })] })).toEqual(
      hit("profile", "bob"),
    );
  });

  test("mail for ana is never for ana-2", () => {
    const second = anAgent({ name: "ana-2", profile: "ana" });
    const profiles = [aProfile({ name: "ana" })];
    expect(resolved("ana", { agents: [second], profiles })).toEqual({ rule: "offline", names: [], start: ["ana"] });
    expect(resolved("ana", { agents: [second, anAgent({ name: "ana", ...suspended })], profiles })).toEqual(
      hit("offline", "ana"),
    );
    expect(resolved("ana-2", { agents: [second], profiles })).toEqual(hit("live", "ana-2"));
  });

  test("a held name beats a live agent that only shares it as a role", () => {
    const world = { agents: [anAgent({ name: "engineer", ...suspended }), anAgent({ name: "bob", role: "engineer" })] };
    expect(resolved("engineer", world)).toEqual(hit("offline", "engineer"));
  });

  test("offline: resumed before started, and a gone one keeps its mail", () => {
    const profiles = [aProfile({ name: "engineer" })];
    expect(
      resolved("engineer", { agents: [anAgent({ name: "bob", profile: "engineer", ...suspended })], profiles }),
    ).toEqual(hit("offline", "bob"));
    expect(resolved("engineer", { profiles })).toEqual({ rule: "offline", names: [], start: ["engineer"] });
    expect(resolved("dead", { agents: [anAgent({ name: "dead", ...offline })] })).toEqual(hit("offline", "dead"));
    expect(resolved("qa", { agents: [anAgent({ name: "kim", role: "qa", ...suspended })] })).toEqual(
      hit("offline", "kim"),
    );
  });

  test("a profile may keep mail from starting it", () => {
    const error = refusal("night", { profiles: [aProfile({ name: "night", autostart: false })] });
    expect(error.code).toBe("TARGET_NOT_FOUND");
    expect(error.remedy).toBe("start it with `tieline spawn night`");
  });

  test("another team's project profile can be started, a built-in one there cannot", () => {
    expect(resolved("api:lead", { profiles: [aProfile({ name: "lead" })] }).start).toEqual(["lead"]);
    expect(refusal("api:lead", { profiles: [aProfile({ name: "lead", origin: "built in" })] }).code).toBe(
      "ADDRESS_UNKNOWN",
    );
  });

  test("last, a native team member", () => {
    expect(resolved("scout", { natives: [anAgent({ name: "scout", id: "native" })] })).toEqual(hit("native", "scout"));
  });

  test("a running native member of the sender's team precedes built-in profiles, not the project's", () => {
    const lead = anAgent({ name: "team-lead", id: "native" });
    const builtIn = aProfile({ name: "team-lead", origin: "built in" });
    expect(resolved("team-lead", { profiles: [builtIn], natives: [lead] })).toEqual(hit("native", "team-lead"));
    expect(resolved("team-lead", { profiles: [builtIn], natives: [lead], nativesAreOwn: false }).start).toEqual([
      "team-lead",
    ]);
    expect(resolved("team-lead", { profiles: [builtIn], natives: [{ ...lead, ...offline }] }).start).toEqual([
      "team-lead",
    ]);
    expect(resolved("team-lead", { profiles: [aProfile({ name: "team-lead" })], natives: [lead] }).start).toEqual([
      "team-lead",
    ]);
  });

  test("native members of one name in two Claude Code teams are ambiguous", () => {
    const natives = ["one", "two"].map((team) => anAgent({ name: "team-lead", team, id: team }));
    const error = refusal("team-lead", { profiles: [aProfile({ name: "team-lead", origin: "built in" })], natives });
    expect([error.code, error.message]).toEqual([
      "ADDRESS_AMBIGUOUS",
      "team-lead could be one:team-lead or two:team-lead",
    ]);
  });

  test("a label never means the sender, a name does", () => {
    const asker = anAgent({ name: "kim", role: "qa" });
    expect(resolved("qa", { agents: [asker, anAgent({ name: "lee", role: "qa" })] }, asker)).toEqual(
      hit("live", "lee"),
    );
    expect(resolved("kim", { agents: [asker] }, asker)).toEqual(hit("live", "kim"));
  });
});

describe("refusals", () => {
  test("two of a role are ambiguous", () => {
    const error = refusal("qa", {
      agents: [anAgent({ name: "kim", role: "qa" }), anAgent({ name: "lee", role: "qa" })],
    });
    expect(error.code).toBe("ADDRESS_AMBIGUOUS");
    expect(error.message).toBe("qa could be kim or lee");
    expect(error.operands["candidates"]).toEqual(["kim", "lee"]);
  });

  test("a slip is answered with near names only", () => {
    const world = {
      agents: [anAgent({ name: "coder" }), anAgent({ name: "x", team: "feat" })],
      profiles: [aProfile({ name: "reviewer" })],
    };
    expect(refusal("codr", world).message).toBe('no agent "codr" in team web; did you mean "coder"?');
    expect(refusal("reveiwer", world).message).toBe('no agent "reveiwer" in team web; did you mean "reviewer"?');
    expect(refusal("zebra", world).message).toBe('no agent "zebra" in team web');
    expect(refusal("feta:x", world).message).toBe('there is no agent in a team "feta"; did you mean "feat"?');
    expect(refusal("%99", world).message).toBe("no agent lives in pane %99");
  });

  test("who has the name in another team is named with it", () => {
    const world = { agents: [anAgent({ name: "coder", team: "feat" }), anAgent({ name: "code", team: "web" })] };
    expect(refusal("coder", world).message).toBe('no agent "coder" in team web; did you mean "feat:coder" or "code"?');
  });

  test("a known name with nothing behind it", () => {
    expect(refusal("metrics", {}).code).toBe("TARGET_NOT_FOUND");
    expect(refusal("coder", { edges: ["me -> coder"] }).code).toBe("TARGET_NOT_FOUND");
    expect(refusal("api:lead", { edges: ["me -> api:lead"] }).code).toBe("TARGET_NOT_FOUND");
    expect(refusal("coder", { edges: ["me -> lead"] }).code).toBe("ADDRESS_UNKNOWN");
  });

  test("explain lists every rule that was tried", () => {
    const { steps, error } = explain("codr", me, lookups({ agents: [anAgent({ name: "coder" })] }));
    expect(steps.map(({ rule, hit: found }) => [rule, found])).toEqual([
      ["profile", false],
      ["live", false],
      ["offline", false],
      ["native", false],
    ]);
    expect(error?.code).toBe("ADDRESS_UNKNOWN");
    const found = explain("coder", me, lookups({ agents: [anAgent({ name: "coder" })] }));
    expect(found.steps.at(-1)).toMatchObject({ rule: "live", hit: true, why: "its name" });
  });
});

describe("broadcast", () => {
  const a = anAgent({ name: "a" });
  const b = anAgent({ name: "b", ...offline });
  const ledger = anAgent({ name: "ledger", kind: "object" });
  const tick = anAgent({ name: "tick", kind: "object" });
  const far = anAgent({ name: "far", team: "api" });
  const agents = [a, b, ledger, tick, far];

  test("@all without a topology is the team without sender, user and system objects", () => {
    expect(resolved("@all", { agents }).names).toEqual(["a", "b", "ledger"]);
    expect(resolved("@team", { agents }).names).toEqual(["a", "b", "ledger"]);
  });

  test("@all with a topology is the out-edges, and says what is not there", () => {
    const world = {
      agents,
      profiles: [aProfile({ name: "qa" })],
      edges: ["me -> b", "me -> user", "me -> tick", "me -> api:far", "me -> qa", "me -> ghost", "b -> a"],
    };
    const found = resolve("@all", me, lookups(world));
    expect(found.agents.map(({ name }) => name)).toEqual(["b", "far"]);
    expect(found.startable.map(({ name }) => name)).toEqual(["qa"]);
    expect(found.missing.map(({ name, error }) => [name, error.code])).toEqual([["ghost", "TARGET_NOT_FOUND"]]);
  });

  test("no out-edge reaches no one, and is no error; an edge to * reaches the team", () => {
    expect(resolved("@all", { agents, edges: ["a -> b"] }).names).toEqual([]);
    expect(resolved("@all", { agents, edges: ["me -> *"] }).names).toEqual(["a", "b", "ledger"]);
  });

  test("@team of another name, @alias, and * for who is live on the host", () => {
    expect(resolved("@api", { agents }).names).toEqual(["far"]);
    const found = resolve(
      "@crew",
      me,
      lookups({ agents, aliases: { crew: ["a", "me", "api:far", "unknown", "@all", "a"] } }),
    );
    expect(found.agents.map(({ name }) => name)).toEqual(["a", "far"]);
    expect(found.missing.map(({ name }) => name)).toEqual(["unknown", "@all"]);
    expect(resolved("*", { agents }).names).toEqual(["a", "ledger", "far"]);
  });

  test("the user's team may be empty, but must exist", () => {
    const user = (team: string): Agent => ({ ...userAgent, team });
    const known: Lookups = { ...lookups({ agents }), foundedTeams: () => ["default"] };
    for (const all of ["@all", "@team", "@default"]) expect(resolve(all, user("default"), known).agents).toEqual([]);
    for (const all of ["@all", "@team", "@weg"]) {
      const { error, steps } = explain(all, user("weg"), known);
      expect(error).toMatchObject({ code: "ADDRESS_UNKNOWN", message: 'there is no team "weg"; did you mean "web"?' });
      expect(steps).toMatchObject([{ hit: false }]);
    }
    expect(explain("@weg", user("default"), known).error!.message).toBe(
      'team default knows no team or alias "weg"; did you mean "@web"?',
    );
  });

  test("a group that is nothing, or two things", () => {
    expect(refusal("@crw", { aliases: { crew: ["a"] } }).message).toBe(
      'team web knows no team or alias "crw"; did you mean "@crew"?',
    );
    expect(refusal("@api", { agents, aliases: { api: ["a"] } }).code).toBe("ADDRESS_AMBIGUOUS");
  });
});
