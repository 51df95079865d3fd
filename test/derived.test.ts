/** Help, OpenAPI and the MCP tools say what the operations say. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { z } from "zod";
import { fieldsOf, operationWords } from "../src/api/operationWords.ts";
import { definitions, operationNames, type Definitions } from "../src/api/operations/index.ts";
import type { OperationName } from "../src/api/schema.ts";
import type { AnyCommand, Argument, Flags, Meaning } from "../src/cli/command.ts";
import { scripts } from "../src/cli/help/completions.ts";
import { described, operationsOf } from "../src/cli/help/described.ts";
import { helpFor, overview } from "../src/cli/help/help.ts";
import { loadAll } from "../src/cli/registry.ts";
import { openapi } from "../src/daemon/openapi.ts";
import { tools, toolsOver } from "../src/mcp/tools.ts";
import { sourcesBelow } from "./architecture/sources.ts";

const commands = await loadAll();
const named = commands.map((command) => [command.name, command] as const);
const plain = (_: string, text: string): string => text;

const meaningsOf = (command: AnyCommand): [name: string, meaning: Meaning][] => [
  ...(command.args as readonly Argument[]).map((argument): [string, Meaning] => [argument.name, argument]),
  ...Object.entries(command.flags as Flags),
];

describe("an operation", () => {
  test.each(operationNames)("%s has a summary of one sentence and describes each field", (name) => {
    const { summary, input } = definitions[name];
    expect(summary).toMatch(/^[A-Z][^.]*(\.\w[^.]*)*\.$/);
    const fields = [...fieldsOf(input)];
    expect(fields.filter(([, text]) => text === undefined || text === "").map(([field]) => field)).toEqual([]);
  });

  /** Operations that no command calls, and why. */
  const withoutCommand: Partial<Record<OperationName, string>> = {
    collect: "agents fetch their mail by MCP and the SDK; the command line has `inbox`",
    register: "a program that uses the SDK makes itself an agent",
    activity: "`ls` shows the activity of each agent",
    preferences: "settings of the dashboard, kept for its page",
    preferencesSet: "settings of the dashboard, kept for its page",
    typeKeys: "the terminal of the dashboard; on the command line `tieline attach`",
    logCount: "lists of the dashboard; on the command line `tieline log` ends where the list ends",
    lastMessages: "the cards of the dashboard; on the command line `tieline log`",
    statistics: "the charts of the dashboard; for monitors there is /metrics",
    edges: "the graph of the dashboard; on the command line `tieline topology`",
    hook: "called by the hook script",
    hookWritten: "called by the hook script",
  };

  test("is called by a command, or it is named here with the reason", () => {
    const root = join(import.meta.dir, "..");
    const code = sourcesBelow(root, "src/cli")
      .filter(({ path }) => !path.endsWith(".test.ts"))
      .map((source) => source.code);
    const called = operationNames.filter((name) =>
      code.some((text) => new RegExp(`(?:\\.call\\(\\s*|doToEach\\()"${name}"`).test(text)),
    );
    const reached = new Set([...called, ...commands.flatMap((command) => operationsOf(command))]);
    expect(operationNames.filter((name) => !reached.has(name)).toSorted()).toEqual(
      Object.keys(withoutCommand).toSorted() as OperationName[],
    );
  });
});

describe("a command", () => {
  test.each(named)("%s has the words of its operation, or its own, but not both", (_, command) => {
    if ("operation" in command) expect(command).not.toHaveProperty("summary");
    else expect(command.summary).toMatch(/^[A-Z].*[^.]\.$/);
    for (const [name, meaning] of meaningsOf(command)) {
      const sources = ["field", "operation", "summary"].filter((source) => source in meaning);
      expect({ name, sources: sources.length }).toEqual({ name, sources: 1 });
    }
  });

  /** Arguments and flags that are called like a field and are something else, and why. */
  const notTheField: Readonly<Record<string, string>> = {
    "ask to": "one agent, not a team",
  };

  test.each(named)("%s does not describe a field of its operation again", (name, command) => {
    const fields = new Set(
      operationsOf(command).flatMap((operation) => [...fieldsOf(definitions[operation].input).keys()]),
    );
    const again = meaningsOf(command)
      .filter(([called, meaning]) => "summary" in meaning && fields.has(camelCase(called)))
      .map(([called]) => `${name} ${called}`)
      .filter((called) => !(called in notTheField));
    expect(again).toEqual([]);
  });

  test.each(named)("%s names operations that it calls and fields that they have", (_, command) => {
    const { summary, args, flags } = described(command, operationWords());
    expect([summary, ...args.map((one) => one.summary), ...flags.map(([, one]) => one.summary)]).not.toContain("");
  });
});

describe("an MCP tool", () => {
  test.each(tools.map((tool) => [tool.name, tool] as const))(
    "%s takes fields as its operations describe them",
    (_, tool) => {
      const own = fieldsOf(tool.input);
      const theirs = new Map(tool.uses.flatMap((name) => [...fieldsOf(definitions[name].input)]));
      for (const [field, text] of own) if (theirs.has(field)) expect([field, text]).toEqual([field, theirs.get(field)]);
      for (const text of own.values()) expect(text).toBeTruthy();
    },
  );

  test.each(tools.map(({ name, description }) => [name, description] as const))(
    "%s is in docs/mcp.md",
    async (name, text) => {
      const page = await Bun.file(join(import.meta.dir, "../docs/mcp.md")).text();
      expect(page).toContain(`| \`${name}\` | ${text} |\n`);
    },
  );

  test("begins with the summary of its operation, unless it combines several", () => {
    const own = tools.filter(({ uses, description }) => !description.startsWith(definitions[uses[0]!].summary));
    expect(own.map(({ name }) => name)).toEqual(["broadcast", "ask"]);
  });
});

test("a change of an operation changes help, completions, OpenAPI and MCP", () => {
  const summary = "Throw a bottle with a letter into the sea.";
  const changed = {
    ...definitions,
    send: {
      ...definitions.send,
      summary,
      input: definitions.send.input.extend({ to: z.string().describe("the beach") }),
    },
  } as Definitions;
  const all = commands.map((command) => described(command, operationWords(changed)));
  expect(overview(all, plain)).toContainEqual(expect.stringContaining(summary.slice(0, -1)));
  expect(scripts.fish(all)).toContain(`-a send -d '${summary.slice(0, -1)}'`);
  const help = helpFor(
    all.find(({ name }) => name === "send")!,
    plain,
  ).join("\n");
  expect(help).toStartWith(`${summary}\n`);
  expect(help).toMatch(/\[to\] +the beach\n/);

  const { paths, components } = openapi("0", changed) as {
    paths: Record<string, { post: { summary: string } }>;
    components: { schemas: Record<string, { properties: { to: { description: string } } }> };
  };
  expect(paths["/v1/send"]!.post.summary).toBe(summary);
  expect(components.schemas["SendInput"]!.properties.to.description).toBe("the beach");

  const { description, input } = toolsOver(changed).find(({ name }) => name === "send_message")!;
  expect(description).toStartWith(`${summary} `);
  expect(fieldsOf(input).get("to")).toBe("the beach");
});

const camelCase = (name: string): string => name.replaceAll(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
