/**
 * What agents write must not reach the user's terminal as anything but text. Every command runs on a real pty, with a
 * daemon that answers with terminal escapes in every text; then with the real daemon, with mail from an agent.
 */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { registry } from "../../src/cli/registry.ts";
import { createClient } from "../../src/client/client.ts";
import { definitions, operationNames } from "../../src/api/operations/index.ts";
import type { OperationName } from "../../src/api/schema.ts";
import { TielineError } from "../../src/model/errors.ts";
import type { Event } from "../../src/model/event.ts";
import { commandLine, type CommandLine } from "../../src/testing/commandLine.ts";
import { fakeDaemon, type Answers, type FakeDaemon } from "../../src/testing/fakeDaemon.ts";
import { runOnTerminal } from "../../src/testing/onTerminal.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const launcher = join(import.meta.dir, "../../bin/tieline");

/** One of each kind that a terminal obeys or a reader does not see. */
const escapes: Readonly<Record<string, string>> = {
  title: "\u001b]0;owned\u0007",
  clipboard: "\u001b]52;c;b3duZWQ=\u001b\\",
  clear: "\u001b[2J\u001b[H",
  screen: "\u001b[?1049h",
  reset: "\u001bc",
  keys: "\u001bP+q544e\u001b\\",
  c1: "\u009b2J\u009d0;owned\u009c",
  backspace: "safe\b\b\b\bevil",
  return: "safe\rFORGED",
  bell: "\u0007\u007f",
  bidi: "\u202egnp.exe\u2066x\u2069",
  zeroWidth: "us\u200ber\u2060\ufeff\u{e0041}",
  separators: "a\u2028FORGED\u0085FORGED",
};
const everything = Object.values(escapes).join(" ");

/** What the command itself may tell a terminal: colours, and lines drawn in place. */
const own = /\u001b\[(?:[0-9]{1,2}m|\d*A|2K|J|\?25[lh])/g;
const lineEnds = /\r\n|\r(?=\u001b\[2K)/g;
const obeyed = new RegExp(
  "[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u061c\\u200b\\u200e\\u200f\\u2028-\\u202e\\u2060-\\u206f" +
    "\\ufeff\\u{e0000}-\\u{e0fff}]",
  "u",
);

function expectSafe(output: string): void {
  const text = output.replaceAll(lineEnds, (end) => (end === "\r\n" ? "\n" : "")).replaceAll(own, "");
  const found = obeyed.exec(text);
  if (found)
    throw new Error(
      `U+${found[0].codePointAt(0)!.toString(16)} at ` +
        `${JSON.stringify(text.slice(Math.max(0, found.index - 60), found.index + 30))}`,
    );
  const forged = text.split("\n").find((line) => line.startsWith("FORGED"));
  expect(forged).toBeUndefined();
}

/** How each command is called so that it prints what the daemon answers. */
const calls: Readonly<Record<string, readonly (readonly string[])[]>> = {
  send: [
    ["send", "ana", "hi"],
    ["send", "ana", "hi", "--wait", "delivered", "--timeout", "100ms"],
  ],
  broadcast: [["broadcast", "hi"]],
  reply: [["reply", "MSG_ANA_00000000", "hi"]],
  ask: [["ask", "ana", "hi?", "--timeout", "100ms"]],
  approve: [["approve"], ["approve", "MSG_ANA_00000000"]],
  deny: [["deny"]],
  inbox: [["inbox"], ["inbox", "ana", "--pending"]],
  show: [["show", "MSG_ANA_00000000"]],
  status: [["status", "MSG_ANA_00000000"]],
  log: [["log"]],
  cancel: [["cancel", "MSG_ANA_00000000"]],
  retry: [["retry", "MSG_ANA_00000000"]],
  export: [["export"]],
  dead: [["dead"]],
  ls: [["ls"], ["ls", "--all"], ["ls", "--names"]],
  spawn: [["spawn", "ana"]],
  adopt: [
    ["adopt", "%1", "--name", "ana"],
    ["adopt", "--all", "--yes"],
  ],
  attach: [["attach", "ana", "--json"]],
  answer: [
    ["answer", "ana"],
    ["answer", "ana", "1", "--yes"],
  ],
  interrupt: [["interrupt", "ana"]],
  stop: [["stop", "ana"]],
  kill: [["kill", "ana"]],
  resume: [["resume", "ana"]],
  restart: [["restart", "ana"]],
  rm: [["rm", "ana"]],
  prune: [["prune"]],
  backup: [["backup"]],
  restore: [["restore", `no\u001b[2Jwhere`, "--yes"]],
  read: [["read", "ana"]],
  resolve: [["resolve", "ana", "--explain"]],
  profiles: [["profiles"], ["profiles", "show", "ana"], ["profiles", "add", "ana"], ["profiles", "rm", "ana"]],
  team: [
    ["team", "ls"],
    ["team", "show", "web"],
    ["team", "disband", "web"],
    ["team", "shutdown", "web"],
  ],
  note: [["note", "--agent", "ana", "hi"]],
  metrics: [["metrics"]],
  layout: [["layout", "mosaic"]],
  explain: [["explain", "ana"]],
  init: [["init", `no\u001b[2Jwhere`]],
  topology: [
    ["topology", "show"],
    ["topology", "check"],
    ["topology", "export"],
  ],
  trust: [
    ["trust", "--show"],
    ["trust", "--yes"],
  ],
  up: [["up"]],
  down: [["down"]],
  dash: [["dash", "--json"]],
  devices: [
    ["devices", "ls"],
    ["devices", "revoke", "--all"],
  ],
  events: [["events"]],
  daemon: [
    ["daemon", "status"],
    ["daemon", "logs"],
  ],
  doctor: [["doctor"]],
  whoami: [["whoami"]],
};

/** Commands that show nothing of what the daemon knows. */
const printOwnTextOnly = ["open", "setup", "shortcuts", "demo", "mcp", "skill", "completions", "help", "version"];

type Schema = Readonly<Record<string, unknown>>;

/** An answer that fits the schema, with this text wherever there is a text. */
function filled(schema: Schema, text: string, definitions: Readonly<Record<string, Schema>> = {}): unknown {
  const inside = (one: Schema): unknown => filled(one, text, definitions);
  if (typeof schema["$ref"] === "string") return inside(definitions[schema["$ref"].split("/").at(-1)!]!);
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as Schema[] | undefined;
  if (choices) return inside(choices.find((one) => one["type"] !== "null") ?? choices[0]!);
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  if ("const" in schema) return schema["const"];
  switch (schema["type"]) {
    case "object": {
      const known = Object.entries((schema["properties"] ?? {}) as Record<string, Schema>).map(([name, one]) => [
        name,
        inside(one),
      ]);
      const rest = schema["additionalProperties"] as Schema | undefined;
      return Object.fromEntries([...known, ...(rest && typeof rest === "object" ? [[text, inside(rest)]] : [])]);
    }
    case "array":
      return ((schema["prefixItems"] ?? [schema["items"] ?? { type: "string" }]) as Schema[]).map(inside);
    case "string":
      return text;
    case "boolean":
      return false;
    case "null":
      return null;
    default:
      return schema["type"] === "integer" || schema["type"] === "number" ? 1 : text;
  }
}

function answerOf(name: OperationName, text: string): unknown {
  if (name === "events")
    return {
      events: [
        {
          seq: 1,
          at: 1,
          type: "message.sent",
          agent: "ana",
          name: text,
          team: text,
          to: text,
          content: text,
        } satisfies Record<keyof Extract<Event, { type: "message.sent" }>, unknown>,
      ],
      last: 1,
      more: false,
    };
  const schema = z.toJSONSchema(definitions[name].output, { unrepresentable: "any" }) as Schema;
  return filled(schema, text, (schema["$defs"] ?? {}) as Record<string, Schema>);
}

const answersWith = (text: string): Answers =>
  Object.fromEntries(operationNames.map((name) => [name, () => answerOf(name, text)])) as Answers;

test("every command is tried, or prints only text of its own", () => {
  expect([...Object.keys(calls), ...printOwnTextOnly].toSorted()).toEqual(Object.keys(registry).toSorted());
});

describe("a daemon that answers with escapes in every text", () => {
  let tieline: CommandLine;
  let daemon: FakeDaemon;
  beforeEach(() => {
    tieline = commandLine();
    daemon = fakeDaemon(tieline.home.socket);
    writeFileSync(tieline.home.log, `${everything}\n`);
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    tieline[Symbol.dispose]();
  });

  test.each(Object.entries(calls))("%s", async (_name, invocations) => {
    for (const args of invocations) {
      daemon.answers = answersWith(`${everything}\nFORGED`);
      const bodies = ["show", "ask", "read", "answer", "profiles", "topology"].includes(args[0]!);
      if (bodies) daemon.answers = answersWith(everything);
      const { stdout } = await tieline.runOnTerminal(args);
      expect(stdout).not.toBe("");
      expectSafe(stdout);
      const json = await tieline.run([...args, "--json"]);
      expectSafe(json.stdout);
      expectSafe(json.stderr);
    }
  });

  test.each(Object.entries(calls))("%s, refused", async (_name, invocations) => {
    const refuse = (): never => {
      throw new TielineError("CONFLICT", `${everything}\nFORGED`, { remedy: `${everything}\nFORGED` });
    };
    daemon.answers = Object.fromEntries(operationNames.map((name) => [name, refuse]));
    for (const args of invocations) {
      expectSafe((await tieline.runOnTerminal(args)).stdout);
      expectSafe((await tieline.run(args)).stderr);
    }
  });

  test("ls --watch and events --follow, in place", async () => {
    daemon.answers = answersWith(`${everything}\nFORGED`);
    daemon.tell({
      seq: 2,
      at: 1,
      type: "agent.changed",
      agent: "a" as never,
      name: everything,
      team: everything,
      state: "idle",
      reason: `${everything}\nFORGED`,
    });
    const enough = (told: string): boolean => told.split("owned").length > 2;
    for (const args of [
      ["ls", "--watch"],
      ["events", "--follow"],
    ]) {
      expectSafe(
        (await runOnTerminal([launcher, ...args], { cwd: tieline.dir, env: tieline.env, columns: 4_000, enough })).told,
      );
    }
  });

  test("into a pipe, show gives the body byte for byte, and the others print it safely", async () => {
    const body = `${everything}\nsecond line`;
    daemon.answers = answersWith(body);
    expect((await tieline.run(["show", "MSG_ANA_00000000"])).stdout).toBe(body);
    expect((await tieline.run(["ask", "ana", "hi?"])).stdout).toBe(`${body}\n`);
    expectSafe((await tieline.run(["inbox"])).stdout);
    expect(JSON.parse((await tieline.run(["inbox", "--json"])).stdout)[0].body).toBe(body);
  });
});

describe("swarm-msg, on the terminal of a workspace", () => {
  const script = join(import.meta.dir, "../../bin/swarm-msg");

  test.each(["inbox", "ask -t 5 ana hi?"])("%s", async (line) => {
    const args = line.split(" ");
    const workspace = mkdtempSync(join(tmpdir(), "tl-swarm-"));
    mkdirSync(join(workspace, ".inbox"));
    const message = {
      id: "1",
      from: "mallory",
      tag: "MSG_MALLORY_00000000",
      content: everything,
      timestamp: "now",
      replyTo: "",
    };
    const deliver = (): void => writeFileSync(join(workspace, ".inbox", "0001_mallory.json"), JSON.stringify(message));
    if (args[0] === "inbox") deliver();
    const running = runOnTerminal([script, ...args], {
      cwd: workspace,
      env: { PATH: process.env["PATH"]!, SWARM_WORKSPACE: workspace },
    });
    if (args[0] === "ask") {
      const asked = (): string[] =>
        readdirSync(workspace, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith("_ana.json"));
      await until(() => asked().length > 0, "the question");
      message.replyTo = (JSON.parse(readFileSync(join(workspace, asked()[0]!), "utf8")) as { id: string }).id;
      deliver();
    }
    const { told } = await running;
    rmSync(workspace, { recursive: true });
    expect(told).toContain("owned");
    expectSafe(told);
  });
});

describe("mail of an agent, with the real daemon", () => {
  let world: World;
  let tag: string;
  beforeAll(async () => {
    world = await startWorld();
    const home = { socket: join(world.env["TIELINE_HOME"]!, "daemon.sock") };
    await world.tieline(["daemon", "start"]);
    const userToken = await Bun.file(join(world.env["TIELINE_HOME"]!, "user.token")).text();
    const user = createClient(home, { userToken: userToken.trim() });
    const { token } = await user.call("register", { name: "mallory" });
    const mallory = createClient(home, { token });
    ({ tag } = await mallory.call("send", {
      to: "user",
      body: `${everything}\nFORGED`,
      summary: `${everything}\nFORGED`,
    }));
    await mallory.call("note", { text: `${everything}\nFORGED` });
    await mallory.call("send", { to: `no\u001b[2Jbody`, body: "x" }).catch(() => undefined);
  });
  afterAll(async () => {
    await world[Symbol.asyncDispose]();
  });

  test.each(["inbox --peek", "log", "status", "ls", "events", "dead", "export", "doctor", "daemon logs"])(
    "%s",
    async (line) => {
      const args = line === "status" ? ["status", tag] : line.split(" ");
      const { told } = await runOnTerminal([launcher, ...args], { cwd: world.project, env: world.env, columns: 200 });
      expect(told).not.toBe("");
      expectSafe(told);
    },
  );
});
