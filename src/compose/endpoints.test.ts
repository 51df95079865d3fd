import { expect, test } from "bun:test";
import { Directory } from "../agents/directory/directory.ts";
import { memoryDocuments } from "../agents/directory/documents/memory.ts";
import { anAgent } from "../testing/agents.ts";
import { readEndpointsWith } from "./endpoints.ts";
import { providers } from "./providers.ts";

const pane = {
  socket: "/tmp/tmux-0/default",
  serverPid: 1,
  serverStartedAt: 2,
  pane: "%3",
  panePid: 4,
  agentPid: 5,
  agentStartMark: "6",
  terminal: { restingLine: ">" },
};

test("an endpoint in a document that cannot be read is dropped and reported, and the agent keeps the others", () => {
  const documents = memoryDocuments();
  const good = [
    { transport: "tmux", locator: pane },
    { transport: "hook", locator: {} },
  ];
  const bad = [
    { transport: "tmux", locator: { ...pane, pane: 3 } },
    { transport: "pigeon", locator: {} },
    { transport: "stdin" },
    "tmux",
    null,
  ];
  const ana = anAgent({ name: "ana" });
  documents.put("agent", ana.id, { ...ana, endpoints: [...bad, ...good] });
  const bob = anAgent({ name: "bob" });
  documents.put("agent", bob.id, { ...bob, endpoints: "none" });
  const reports: string[] = [];
  const read = readEndpointsWith((_, fault) => void reports.push((fault as Error).message));
  const directory = new Directory(documents, () => undefined, read);
  expect(directory.agent(ana.id)?.endpoints).toEqual(good);
  expect(directory.roster.byPane("%3").map(({ name }) => name)).toEqual(["ana"]);
  expect(directory.agent(bob.id)?.endpoints).toEqual([]);
  expect(reports).toHaveLength(bad.length);
  expect(reports[0]).toContain("locator.pane");
});

test("reads the endpoints of every provider", () => {
  const reports: unknown[] = [];
  const read = readEndpointsWith((_, fault) => void reports.push(fault));
  const inPanes = providers.all.flatMap(({ transportsInPane = [] }) => transportsInPane);
  const stored = [
    ...new Set(inPanes).values().map((transport) => ({ transport, locator: {} })),
    { transport: "claude-inbox", locator: { inbox: "/home/ana/.claude/teams/web/inboxes/bob.json" } },
    { transport: "codex-server", locator: { socket: "/run/codex.sock", hooks: true } },
    { transport: "opencode-server", locator: { port: 4096, password: "secret" } },
    { transport: "pi-extension", locator: { socket: "/run/pi.sock" } },
  ];
  expect(read(anAgent({ name: "ana" }), stored)).toEqual(stored);
  expect(reports).toEqual([]);
});
