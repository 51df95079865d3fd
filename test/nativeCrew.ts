/** A team of Claude Code whose members are files, for tests of native teams. */
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentView, InboxView } from "../src/api/schema.ts";
import { type World } from "../src/testing/world.ts";

export type Fields = Record<string, unknown>;
export interface Row extends Fields {
  readonly from: string;
  readonly text: string;
}

export const lead = { agentId: "team-lead@crew", name: "team-lead", agentType: "team-lead", tmuxPaneId: "leader" };
export const scout = { agentId: "scout@crew", name: "scout", agentType: "explorer" };

/** The team `crew` of Claude Code, whose members are files. */
export function crewIn(world: World, config: Fields = {}) {
  const folder = join(world.dir, ".claude", "teams", "crew");
  const path = (member: string): string => join(folder, "inboxes", `${member}.json`);
  mkdirSync(join(folder, "inboxes"), { recursive: true });
  const write = (file: string, content: unknown): void => {
    writeFileSync(`${file}.draft`, JSON.stringify(content));
    renameSync(`${file}.draft`, file);
  };
  write(join(folder, "config.json"), {
    name: "crew",
    leadAgentId: "team-lead@crew",
    members: [lead, scout],
    ...config,
  });
  return {
    config: () => JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Fields & { members: Fields[] },
    configure: (more: Fields) =>
      write(join(folder, "config.json"), {
        ...(JSON.parse(readFileSync(join(folder, "config.json"), "utf8")) as Fields),
        ...more,
      }),
    rows: (member: string): Row[] =>
      existsSync(path(member)) ? (JSON.parse(readFileSync(path(member), "utf8")) as Row[]) : [],
    /** Writes as another member would. */
    post(member: string, from: string, text: string | object) {
      const row = {
        from,
        text: typeof text === "string" ? text : JSON.stringify(text),
        timestamp: new Date().toISOString(),
        read: false,
      };
      write(path(member), [...this.rows(member), row]);
      return row;
    },
  };
}

/** The members but for the user, who is in every team. */
export const others = (crew: ReturnType<typeof crewIn>): Fields[] =>
  crew.config().members.filter(({ agentType }) => agentType !== "user");
export const namesIn = (agents: readonly AgentView[]): string[] =>
  agents.map(({ team, name }) => `${team}:${name}`).toSorted();

export const mail = (world: World): Promise<InboxView[]> => world.json<InboxView[]>(["inbox", "--peek"]);
export const agentIn = async (world: World, name: string): Promise<AgentView | undefined> =>
  (await world.json<AgentView[]>(["ls", "--all"])).find((one) => one.name === name);
/** Writes down every line that it reads. */
export const notes = (file: string): readonly string[] => [
  "sh",
  "-c",
  `while read -r line; do printf '%s\\n' "$line" >> ${file}; done`,
];
export const textIn = (file: string): string => (existsSync(file) ? readFileSync(file, "utf8") : "");
