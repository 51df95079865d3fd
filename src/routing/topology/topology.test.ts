import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Agent } from "../../model/agent.ts";
import { anAgent, theUser } from "../../testing/agents.ts";
import { checkEdges, mentions, routeDenied } from "./check.ts";
import { type Edge, edgeKey, parseEdge } from "./edge.ts";
import { exportTopology } from "./export.ts";
import { addEdges, noOverlay, removeEdges } from "./overlay.ts";
import { allowedTargets, openTopology, outEdges, permit, topologyOf, type TopologySource } from "./topology.ts";

const edges = (...texts: string[]): Edge[] =>
  texts.flatMap((text, index) => parseEdge(text, "web", { file: "tieline.yaml", line: index + 5, column: 5 }));
const topology = (texts: string[], rest: Partial<TopologySource> = {}) =>
  topologyOf({ team: "web", edges: edges(...texts), ...rest });
const may = (topo: ReturnType<typeof topologyOf>, from: Agent, to: Agent, reply = false): boolean =>
  permit(topo, from, [to], { reply }).permitted.length === 1;

const lead = anAgent({ name: "lead" });
const coder = anAgent({ name: "coder" });
const reviewer = anAgent({ name: "reviewer" });
const metrics = anAgent({ name: "metrics", kind: "object" });

describe("edges", () => {
  test("one way, both ways, anyone", () => {
    expect(edges("a -> b", "b <-> c", "lead -> *", "x->y").map(edgeKey)).toEqual([
      "a -> b",
      "b -> c",
      "c -> b",
      "lead -> *",
      "x -> y",
    ]);
  });

  test("each end knows its place", () => {
    const [forth, back] = parseEdge("coder <->  reviewer", "web", { file: "f", line: 3, column: 5 });
    expect(forth!.places).toEqual({ from: { file: "f", line: 3, column: 5 }, to: { file: "f", line: 3, column: 16 } });
    expect(back!.places!.from.column).toBe(16);
  });

  test.each(["", "a", "a => b", "a -> b -> c", "-> b", "a ->", "1a -> b", "a -> %1", "a <- b", "a -> b:*"])(
    "%p is refused",
    (text) => {
      expect(() => parseEdge(text, "web")).toThrow("is not an edge");
    },
  );

  test("the own team's prefix is dropped; a sender of another team is refused with the remedy", () => {
    expect(edges("web:lead -> api:lead").map(edgeKey)).toEqual(["lead -> api:lead"]);
    const refused = () => edges("lead <-> api:lead");
    expect(refused).toThrow("cannot let api:lead write");
    expect(refused).toThrow(
      expect.objectContaining({ remedy: expect.stringContaining("`lead -> web:lead` in the topology of team api") }),
    );
  });
});

describe("permit", () => {
  test("only along edges, in their direction", () => {
    const topo = topology(["lead -> coder"]);
    expect(may(topo, lead, coder)).toBe(true);
    expect(may(topo, coder, lead)).toBe(false);
    expect(may(topo, coder, lead, true)).toBe(true);
  });

  test("without a topology all routes, with an empty one none", () => {
    expect(may(openTopology("web"), coder, lead)).toBe(true);
    expect(may(topology([]), coder, lead)).toBe(false);
  });

  test("the user and the system objects are always routable, both ways", () => {
    const topo = topology([]);
    for (const party of [theUser(), metrics]) {
      expect(may(topo, coder, party)).toBe(true);
      expect(may(topo, party, coder)).toBe(true);
    }
    const custom = anAgent({ name: "ledger", kind: "object" });
    expect(may(topo, coder, custom)).toBe(false);
  });

  test("an agent cannot write to itself, not even in reply", () => {
    expect(may(openTopology("web"), coder, coder, true)).toBe(false);
    expect(routeDenied(openTopology("web"), coder, [coder]).message).toBe("coder cannot write to itself");
  });

  test("a label covers name, profile and role; a declared name is no role", () => {
    const bob = anAgent({ name: "bob", role: "coder" });
    const second = anAgent({ name: "coder-2", profile: "coder" });
    expect(may(topology(["lead -> coder"]), lead, bob)).toBe(true);
    expect(may(topology(["lead -> coder"]), lead, second)).toBe(true);
    expect(may(topology(["lead -> coder"], { declared: ["coder"] }), lead, bob)).toBe(false);
    expect(may(topology(["lead -> coder"], { declared: ["coder"] }), lead, second)).toBe(true);
  });

  test("a bridge: the sender's team decides, by an edge with the other team's prefix", () => {
    const there = anAgent({ name: "lead", team: "api" });
    const topo = topology(["lead -> api:lead", "lead -> coder"]);
    expect(may(topo, lead, there)).toBe(true);
    expect(may(topo, coder, there)).toBe(false);
    expect(may(topo, lead, anAgent({ name: "coder", team: "api" }))).toBe(false);
  });

  test("* on either side", () => {
    const topo = topology(["lead <-> *"]);
    expect(may(topo, lead, anAgent({ name: "x", team: "api" }))).toBe(true);
    expect(may(topo, coder, lead)).toBe(true);
    expect(may(topo, coder, reviewer)).toBe(false);
  });

  test("everyone at once is for the user, an edge to *, or broadcast-all", () => {
    const all = (from: Agent, texts: string[]) =>
      permit(topology(texts), from, [reviewer], { everyone: true }).permitted.length === 1;
    expect(all(theUser(), [])).toBe(true);
    expect(all(coder, ["coder -> reviewer"])).toBe(false);
    expect(all(coder, ["coder -> *"])).toBe(true);
    expect(all(anAgent({ name: "coder", may: ["broadcast-all"] }), [])).toBe(true);
    expect(permit(openTopology("web"), coder, [reviewer], { everyone: true }).permitted).toEqual([]);
  });

  test("a refusal names the allowed targets", () => {
    const error = routeDenied(topology(["coder -> reviewer"]), coder, [lead]);
    expect(error.code).toBe("ROUTE_DENIED");
    expect(error.message).toBe("the topology of team web does not let coder write to lead");
    expect(error.remedy).toBe("coder may write to: reviewer, user");
  });
});

describe("overlay", () => {
  const config = edges("a -> b", "b -> c");
  const run = (text: string) => parseEdge(text, "web");
  const shown = (overlay = noOverlay, written: Edge[] | null = config) =>
    topologyOf({ team: "web", edges: written, overlay }).edges?.map((edge) => `${edgeKey(edge)} (${edge.origin})`);

  test("run-time edges come after those of the file and show their origin", () => {
    expect(shown(addEdges(noOverlay, config, run("c -> a")))).toEqual([
      "a -> b (config)",
      "b -> c (config)",
      "c -> a (run time)",
    ]);
  });

  test("taking away and giving back an edge of the file leaves the file's edge", () => {
    const removed = removeEdges(noOverlay, config, run("a -> b"));
    expect(shown(removed)).toEqual(["b -> c (config)"]);
    expect(shown(addEdges(removed, config, run("a -> b")))).toEqual(["a -> b (config)", "b -> c (config)"]);
  });

  test("an edge added to a team without topology closes it, its removal opens it again", () => {
    const added = addEdges(noOverlay, null, run("a -> b"));
    expect(shown(added, null)).toEqual(["a -> b (run time)"]);
    expect(shown(removeEdges(added, null, run("a -> b")), null)).toBeUndefined();
  });

  test("an edge that does not hold cannot be removed", () => {
    expect(() => removeEdges(noOverlay, config, run("c -> a"))).toThrow("there is no edge c -> a");
  });
});

describe("check and export", () => {
  test("unknown names of other teams do not hide one of this team", () => {
    const others = Array.from({ length: 30 }, (_, at) => `lead -> other:a${at}`);
    const problems = checkEdges(topology([...others, "lead -> codr"]), () => new Set(["lead", "coder"]), "web");
    expect(problems.map(({ operands }) => operands["label"])).toEqual(["codr"]);
  });

  test("an unknown name is named with its place and what was meant", () => {
    const problems = checkEdges(
      topology(["lead -> coder", "coder -> reviewr", "coder -> metrics"]),
      () => new Set(["lead", "coder", "reviewer"]),
    );
    expect(problems.map((problem) => problem.message)).toEqual([
      'tieline.yaml:6:14: no agent or role "reviewr" in team web; did you mean "reviewer"?',
    ]);
    expect(mentions(topology(["a -> b"]), "b")).toBe(true);
    expect(mentions(topology(["a -> b"]), "c")).toBe(false);
  });

  test("text, Mermaid and Graphviz", () => {
    const topo = topology(["a -> b", "a -> *"], { overlay: { added: parseEdge("b -> end", "web"), removed: [] } });
    expect(exportTopology(topo, "text")).toBe("a -> b\na -> *\nb -> end  # run time\n");
    expect(exportTopology(topo, "mermaid")).toBe(
      'flowchart LR\n  n0["a"]\n  n1["b"]\n  n2["*"]\n  n3["end"]\n  n0 --> n1\n  n0 --> n2\n  n1 -.-> n3\n',
    );
    expect(exportTopology(topo, "graphviz")).toBe(
      'digraph "web" {\n  rankdir=LR;\n  "a" -> "b";\n  "a" -> "*";\n  "b" -> "end" [style=dashed];\n}\n',
    );
    expect(exportTopology(openTopology("web"), "text")).toContain("no topology");
  });
});

describe("against a naive model", () => {
  const label = fc.constantFrom("a", "b", "c", "d");
  const written = fc.array(
    fc.record({
      from: fc.oneof(label, fc.constant("*")),
      arrow: fc.constantFrom("->", "<->"),
      to: fc.oneof(label, fc.constant("*")),
    }),
  );
  const party = fc.record({
    name: label,
    role: fc.option(label),
    profile: fc.option(label),
    team: fc.constantFrom("web", "api"),
  });

  test("a message passes exactly if some written edge covers both ends", () => {
    fc.assert(
      fc.property(written, party, party, fc.subarray(["a", "b", "c", "d"]), (rows, sender, target, declared) => {
        const from = anAgent({ ...sender, team: "web", id: "1" });
        const to = anAgent({ ...target, id: "2" });
        const covers = (end: string, agent: Agent): boolean =>
          end === "*" ||
          (agent.team === "web" &&
            (end === agent.name || end === agent.profile || (end === agent.role && !declared.includes(end))));
        const expected = rows.some(
          (row) =>
            (covers(row.from, from) && covers(row.to, to)) ||
            (row.arrow === "<->" && covers(row.to, from) && covers(row.from, to)),
        );
        const topo = topology(
          rows.map((row) => `${row.from} ${row.arrow} ${row.to}`),
          { declared },
        );
        expect(may(topo, from, to)).toBe(expected);
      }),
    );
  });

  test("edges keep their order, once each, and out-edges and targets follow them", () => {
    fc.assert(
      fc.property(written, label, (rows, name) => {
        const all: string[] = [];
        for (const { from, arrow, to } of rows) {
          for (const key of [`${from} -> ${to}`, ...(arrow === "<->" ? [`${to} -> ${from}`] : [])])
            if (!all.includes(key)) all.push(key);
        }
        const topo = topology(rows.map((row) => `${row.from} ${row.arrow} ${row.to}`));
        expect(topo.edges!.map(edgeKey)).toEqual(all);
        const own = all.filter((key) => key.startsWith(`${name} `) || key.startsWith("* "));
        const sender = anAgent({ name });
        expect(outEdges(topo, sender)!.map(edgeKey)).toEqual(own);
        expect(allowedTargets(topo, sender)).toEqual([...new Set(own.map((key) => key.split(" -> ")[1]!)), "user"]);
      }),
    );
  });
});
