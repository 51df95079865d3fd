import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { resolve } from "../../routing/addresses/resolve.ts";
import { parseProject } from "../../config/project.ts";
import { Projects } from "../../config/projects.ts";
import type { Agent } from "../../model/agent.ts";
import { anAgent, readEndpoints } from "../../testing/agents.ts";
import { edgeKey, parseEdge } from "../../routing/topology/edge.ts";
import { addEdges, noOverlay } from "../../routing/topology/overlay.ts";
import { permit } from "../../routing/topology/topology.ts";
import { Directory } from "./directory.ts";
import { memoryDocuments } from "./documents/memory.ts";
import { lookupsOver } from "./lookups.ts";
import { Profiles } from "../profiles/profiles.ts";
import { IndexedRoster } from "./roster.ts";
import { teamsOver } from "../teams.ts";

const root = mkdtempSync(join(tmpdir(), "tl-lookups-"));
afterAll(() => rmSync(root, { recursive: true }));

const projects = {
  web: parseProject(
    join(root, "web", "tieline.yaml"),
    "team: web\nagents: { lead: , coder: }\ntopology: [lead <-> coder, lead -> api:lead]\naliases: { bosses: " +
      "[lead, api:lead] }",
  ),
  api: parseProject(
    join(root, "api", "tieline.yaml"),
    "team: api\nagents: { lead: , coder: }\ntopology: [lead <-> coder]",
  ),
};

describe("two teams and a bridge", () => {
  const roster = new IndexedRoster();
  const webLead = anAgent({ team: "web", name: "lead" });
  const webCoder = anAgent({ team: "web", name: "coder" });
  const apiLead = anAgent({ team: "api", name: "lead" });
  const apiCoder = anAgent({ team: "api", name: "coder" });
  for (const agent of [webLead, webCoder, apiLead, apiCoder]) roster.put(agent);
  let overlay = noOverlay;
  const lookups = lookupsOver({
    roster,
    profiles: new Profiles(join(root, "agents")),
    projectOf: (team) => projects[team as keyof typeof projects] ?? null,
    overlayOf: (team) => (team === "api" ? overlay : noOverlay),
  });
  const reaches = (from: Agent, to: string): string[] =>
    permit(lookups.topology(from.team), from, resolve(to, from, lookups).agents).permitted.map(({ id }) => id);

  test("a name means the sender's own team; the bridge carries leads only, one way", () => {
    expect(reaches(webCoder, "lead")).toEqual(["web/lead"]);
    expect(reaches(apiCoder, "lead")).toEqual(["api/lead"]);
    expect(reaches(webLead, "api:lead")).toEqual(["api/lead"]);
    expect(reaches(webLead, "api:coder")).toEqual([]);
    expect(reaches(webCoder, "api:lead")).toEqual([]);
    expect(reaches(apiLead, "web:lead")).toEqual([]);
  });

  test("@all follows the bridge, an alias is checked for each member", () => {
    expect(reaches(webLead, "@all")).toEqual(["web/coder", "api/lead"]);
    expect(reaches(webCoder, "@bosses")).toEqual(["web/lead"]);
  });

  test("a run-time edge counts at once; an unchanged topology is not made again", () => {
    const before = lookups.topology("api");
    expect(lookups.topology("api")).toBe(before);
    overlay = addEdges(overlay, projects.api.edges, parseEdge("lead -> web:lead", "api"));
    expect(reaches(apiLead, "web:lead")).toEqual(["web/lead"]);
  });

  test("profiles come from the team's project", () => {
    expect(lookups.profile("web", "lead")!.source).toBe(projects.web.file);
    expect(lookups.profile("elsewhere", "lead")).toBeNull();
    expect([...lookups.profileNames("web")]).toContain("engineer");
  });
});

describe("the lookups of the running switch", () => {
  test("read the project that a team belongs to, and keep run-time edges over a restart", () => {
    const shop = join(root, "shop");
    mkdirSync(shop);
    writeFileSync(join(shop, "tieline.yaml"), "team: shop\ntopology: [lead -> coder]\naliases: { crew: [lead] }\n");
    const documents = memoryDocuments();
    const open = () => {
      const directory = new Directory(documents, () => {}, readEndpoints);
      const teams = teamsOver(directory, new Projects(), documents);
      return {
        directory,
        teams,
        lookups: lookupsOver({ roster: directory.roster, profiles: new Profiles(join(root, "agents")), ...teams }),
      };
    };
    const { directory, teams, lookups } = open();
    directory.joinTeam("shop", shop);
    expect(teams.projectOf("shop")!.root).toBe(shop);
    expect(teams.projectOf("elsewhere")).toBeNull();
    expect(lookups.topology("elsewhere").edges).toBeNull();
    expect(lookups.alias("shop", "crew")).toEqual(["lead"]);

    const added = addEdges(teams.overlayOf("shop"), teams.projectOf("shop")!.edges, parseEdge("coder -> lead", "shop"));
    teams.setOverlay("shop", added);
    for (const at of [lookups, open().lookups]) {
      expect(at.topology("shop").edges!.map((edge) => `${edgeKey(edge)} (${edge.origin})`)).toEqual([
        "lead -> coder (config)",
        "coder -> lead (run time)",
      ]);
    }
  });
});
