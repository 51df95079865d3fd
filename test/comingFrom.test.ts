import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";
import { resultOf } from "../src/testing/childResult.ts";

const page = readFileSync(join(import.meta.dir, "../docs/coming-from.md"), "utf8");
const swarmMsg = join(import.meta.dir, "../bin/swarm-msg");

interface Row {
  readonly theirs: string;
  readonly commands: readonly string[];
  readonly pages: readonly string[];
  readonly settings: readonly string[];
}

/** The rows of each section: what is on the right, as far as it can be run or looked up. */
const sections = page
  .split("\n## ")
  .slice(1)
  .map((text) => {
    const rows = [...text.matchAll(/^\| (?!---)(.*) \| (.*) \|$/gm)].slice(1).map(([, theirs, ours]): Row => {
      const code = [...ours!.matchAll(/`([^`]+)`/g)].map(([, one]) => one!);
      return {
        theirs: theirs!,
        commands: code.filter((one) => /^(tieline|swarm-msg) /.test(one)),
        pages: [...ours!.matchAll(/docs\/[\w-]+\.md/g)].map(([one]) => one),
        // Subjects of NATS look like settings.
        settings: code.filter((one) => /^(?!tieline\.)\w+\.\w+/.test(one)),
      };
    });
    return { title: text.split("\n", 1)[0]!, rows };
  });

/** A program that takes lines, and exits on request. */
const listener = ["sh", "-c", "printf '> '; while read -r line; do printf '> '; done"];

const project = `team: web
agents:
  engineer: { provider: generic, command: ${JSON.stringify(listener)}, promptPattern: "^> ?" }
  reviewer: { provider: generic, command: ${JSON.stringify(listener)}, promptPattern: "^> ?" }
objects: { metrics: }
`;

/** Words as a shell would see them. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(([, double, single, bare]) => double ?? single ?? bare!);

describe.each(sections)("coming from $title", ({ rows }) => {
  let world: World;
  let tag = "";

  beforeAll(async () => {
    world = await startWorld({
      files: { "tieline.yaml": project, ".inbox/.agents": "reviewer\n", "my-project/.keep": "", "notes.md": "notes\n" },
    });
    await world.pane(listener);
    await world.pane(listener);
    await world.json(["up"]);
  }, 60_000);
  afterAll(() => world[Symbol.asyncDispose]());

  /** Panes are numbered by tmux; the page's `%1` is one that this test started and did not adopt. */
  const filledIn = (word: string): string => (word === "<tag>" ? tag : word);

  async function run(line: string): Promise<{ code: number; output: string }> {
    const [program, ...args] = wordsOf(line).map(filledIn);
    if (program === "tieline") {
      const { code, stdout, stderr } = await world.tieline(args);
      return { code, output: stdout + stderr };
    }
    const child = Bun.spawn([swarmMsg, ...args], {
      cwd: world.project,
      env: { ...world.env, SWARM_WORKSPACE: world.project },
      stdout: "pipe",
      stderr: "pipe",
    });
    const { code, stdout, stderr } = await resultOf(child);
    return { code, output: stdout + stderr };
  }

  test.each(rows.filter(({ commands }) => commands.length > 0))(
    "$theirs",
    async ({ commands }) => {
      for (const command of commands) {
        if (command.startsWith("tieline retry")) await world.tieline(["cancel", tag]);
        const { code, output } = await run(command);
        tag = /MSG_USER_[0-9a-f]{8}/.exec(output)?.[0] ?? tag;
        // Two answers are neither yes nor no: there is nothing to do, or no terminal to show it on.
        const expected = command.startsWith("tieline retry") || command.startsWith("tieline answer") ? [0, 3] : [0];
        expect(expected, `${command}\n${output}`).toContain(code);
      }
    },
    60_000,
  );

  test("every page and setting that is named is there", async () => {
    const { HomeConfig } = await import("../src/config/home.ts");
    for (const row of rows) {
      for (const name of row.pages)
        expect(readFileSync(join(import.meta.dir, "..", name), "utf8").length).toBeGreaterThan(100);
      for (const setting of row.settings) {
        const [section, key] = setting.split(":")[0]!.split(".") as [keyof typeof HomeConfig.shape, string];
        if (/\.(json|yaml|md)$/.test(setting.split(":")[0]!)) continue;
        expect(HomeConfig.parse({})[section], setting).toHaveProperty(key);
      }
    }
  });
});

/** Rows that promise the same files or words as before: they are written as before, and must arrive. */
const promises: Readonly<Record<string, (world: World) => Promise<void>>> = {
  "prefix+G, prefix+g": async (world) => {
    const { stdout } = await world.tieline(["shortcuts", "show"]);
    expect(stdout).toMatch(/^bind-key G display-popup .*\nbind-key g display-popup .* ls --all/m);
  },
  "`@reviewer: hi`, SWARM_MSG blocks in an agent's output": async (world) => {
    await until(async () => (await bodies(world)).length === 2, "both messages from the output");
    expect((await bodies(world)).toSorted()).toEqual(["hi", "in a block"]);
  },
  "`.inbox/` and `.outbox/` files": async (world) => {
    world.file("room/.outbox/0001_keeper.json", '{"to":"keeper","content":"hi"}');
    const file = join(world.project, "cellar/.inbox/0001_writer.json");
    await until(() => existsSync(file), "the file in the inbox");
    expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ from: "writer", content: "hi", seq: 1 });
  },
  "objects with a handler": async (world) => {
    expect(await world.tieline(["send", "adder", "--wait", "answered", "2 and 2"])).toMatchObject({ code: 0 });
    expect((await world.inbox("user")).map(({ body }) => body)).toContain("2 and 2 is 4");
  },
};

/** In the order in which they were sent; ids grow with time. */
const bodies = async (world: World): Promise<string[]> =>
  (await world.inbox("reviewer"))
    .filter(({ from }) => from === "speaker")
    .toSorted((a, b) => (a.id < b.id ? -1 : 1))
    .map(({ body }) => body);

describe("what is promised to stay as it was", () => {
  let world: World;
  beforeAll(async () => {
    const yaml = `team: web
agents:
  speaker:
    headless: true
    command: "echo '@reviewer: hi'; echo '<<SWARM_MSG:TO=reviewer:START>>in a block<<SWARM_MSG:END>>'; sleep 1000"
  reviewer: { headless: true, command: [cat] }
  writer: { command: [sleep, "1000"], workspace: room, input: files }
  keeper: { command: [sleep, "1000"], workspace: cellar, input: files }
objects: { adder: { module: adder.ts } }
`;
    world = await startWorld({
      files: {
        "tieline.yaml": yaml,
        "adder.ts": "export const onMessage = (_from, content, api) => api.reply(`${content} is 4`);\n",
      },
    });
    await world.json(["up"]);
  }, 60_000);
  afterAll(() => world[Symbol.asyncDispose]());

  test.each(Object.entries(promises))(
    "%s",
    async (row, isKept) => {
      expect(sections.flatMap(({ rows }) => rows).map(({ theirs }) => theirs)).toContain(row);
      await isKept(world);
    },
    60_000,
  );
});

test("every section has rows, and each of them is run, looked up or written", () => {
  expect(sections.map(({ title }) => title)).toEqual(["Genie", "Genswarms", "Nolan", "Claude Code agent teams"]);
  const all = sections.flatMap(({ rows }) => rows);
  expect(all.length).toBeGreaterThan(45);
  for (const { theirs, commands, settings } of all)
    expect(commands.length > 0 || settings.length > 0 || theirs in promises, theirs).toBe(true);
});
