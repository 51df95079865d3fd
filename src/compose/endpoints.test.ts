import { expect, test } from "bun:test";
import { Directory } from "../agents/directory/directory.ts";
import { memoryDocuments } from "../agents/directory/documents/memory.ts";
import { anAgent } from "../testing/agents.ts";
import { readEndpointsWith } from "./endpoints.ts";

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
