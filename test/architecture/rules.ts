/**
 * The rules of the layout. Each names the files that break it in sentences, and comes with a sample that breaks it, so
 * that a rule that can no longer fail is found.
 */
import { containing, importing, isIn, isInOne, isOurs, isRuntime, isTest, product, type Rule } from "./selection.ts";
import { cyclesIn, sourceOf } from "./sources.ts";
import { timeRules } from "./timeRules.ts";

const core = ["model", "routing/router", "routing/addresses", "routing/topology", "delivery/courier"];
const faces = ["cli", "daemon", "mcp", "sdk", "client", "api", "compose"];

/** Folders whose entries are interchangeable; an entry is a driver. */
const driverFolders = ["mailbox", "delivery/transports", "agents/directory/documents", "providers"];
const sharedFolders = ["src/providers/screen", "src/providers/hooks", "src/providers/transcripts"];

function driverOf(path: string): string | null {
  for (const folder of driverFolders) {
    const rest = path.startsWith(`src/${folder}/`) ? path.slice(`src/${folder}/`.length) : "";
    const driver = `src/${folder}/${rest.split("/")[0]}`;
    if (rest.includes("/") && !sharedFolders.includes(driver)) return driver;
  }
  return /^src\/agents\/directory\/documents\/(memory|sqlite)\.ts$/.test(path) ? path : null;
}

const parentOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

const providerFolders = ["claude-code", "codex", "gemini", "opencode", "pi"].map((name) => `providers/${name}`);
const providerNames = /\w*(?:claude|codex|gemini|opencode)[\w-]*|(?<=["'`])pi(?:-\w+)*(?=["'`])/i;
/** What people call the programs, in sentences. */
const productNames = /\b(?:Claude Code|Gemini CLI)\b/g;
/** Files that may name providers, and why. */
const namesProviders: Readonly<Record<string, string>> = {
  "src/config/home.ts": "documents the settings; `claudeTeams` is the name of one",
  "src/config/profileFields.ts": "documents the fields of a profile, with the default provider",
  "src/config/template.ts": "the example project that `tieline init` writes",
  "src/cli/input/args.ts": "the providers that help and completion suggest; a test compares them with compose/",
  "src/cli/commands/adopt.ts": "help",
  "src/cli/commands/explain.ts": "help",
  "src/cli/commands/mcp.ts": "help",
  "src/cli/commands/setup.ts": "help; a test compares its suggestions with compose/",
  "src/cli/commands/skill.ts": "help",
  "src/cli/commands/spawn.ts": "help",
  "src/client/caller.ts": "reads the variables of programs before any provider is loaded; a test compares them",
};

/**
 * Files that write to the terminal themselves: the writer, a protocol on stdout, the starter's line, the log's
 * fallback.
 */
const printers = ["src/cli/output/terminal.ts", "src/cli/commands/mcp.ts", "src/daemon/main.ts", "src/daemon/log.ts"];
/** Files that make text in which each line is their own. */
const lineMakers = [
  "src/cli/help/reference.ts",
  "src/cli/help/completions.ts",
  "src/cli/setup/fencedBlock.ts",
  "src/cli/output/tail.ts",
];
/** A round of the courier ends by itself; the next one is asked for. */
const loops = ["src/os/runForever.ts", "src/delivery/courier.ts"];

export const rules: readonly Rule[] = [
  {
    name: "imports lead to files that exist",
    violations: (sources) => {
      const paths = new Set(sources.map(({ path }) => path));
      const exists = (target: string): boolean => !isOurs(target) || !target.endsWith(".ts") || paths.has(target);
      return importing(sources, exists, "there is no such file");
    },
    broken: [sourceOf("src/model/a.ts", `import { b } from "./nothing.ts";`)],
  },
  {
    name: "model imports nothing outside itself",
    violations: (sources) =>
      importing(product(sources, "model"), (target) => isIn(target, "model"), "model imports only model"),
    broken: [sourceOf("src/model/a.ts", `import type { Mailbox } from "../mailbox/port.ts";`)],
  },
  {
    name: "the core uses web standards only",
    violations: (sources) => {
      const why = "the core uses web standards only";
      const files = product(sources, ...core);
      return [
        ...importing(files, (target) => !isRuntime(target), why),
        ...containing(files, /\b(Bun|process|Buffer|require)\s*[.(]/, why),
      ];
    },
    broken: [sourceOf("src/delivery/courier.ts", `const home = process.env["HOME"];`)],
  },
  {
    name: "the core knows ports, not what is behind them",
    violations: (sources) => {
      const outside = ["tmux", "providers", "intake", "config", "os/sqlite", ...faces];
      return importing(product(sources, ...core), (target) => !isInOne(target, outside), "the core imports only ports");
    },
    broken: [sourceOf("src/routing/router.ts", `import { openServer } from "../tmux/server.ts";`)],
  },
  {
    name: "what goes out does not depend on what comes in",
    violations: (sources) =>
      importing(
        product(sources, "delivery", "providers"),
        (target) => !isIn(target, "intake"),
        "delivery and providers import nothing of intake",
      ),
    broken: [sourceOf("src/delivery/a.ts", `import { Spool } from "../intake/hooks/spool.ts";`)],
  },
  {
    name: "tmux/ knows tmux and nothing of messages",
    violations: (sources) => {
      const allowed = (target: string): boolean => !isOurs(target) || isInOne(target, ["tmux", "model", "os"]);
      return importing(product(sources, "tmux"), allowed, "tmux imports only model, os and itself");
    },
    broken: [sourceOf("src/tmux/a.ts", `import type { Mailbox } from "../mailbox/port.ts";`)],
  },
  {
    name: "os/ knows nothing of Tieline but its errors and ids",
    violations: (sources) => {
      const allowed = (target: string): boolean => !isOurs(target) || isInOne(target, ["os", "model"]);
      return importing(product(sources, "os"), allowed, "os imports only model and itself");
    },
    broken: [sourceOf("src/os/a.ts", `import { homeOf } from "../config/home.ts";`)],
  },
  {
    name: "a driver never imports a sibling",
    violations: (sources) => {
      const allowed = (target: string, path: string): boolean => {
        const [own, other] = [driverOf(path), driverOf(target)];
        return own === null || other === null || own === other || parentOf(own) !== parentOf(other);
      };
      return importing(product(sources), allowed, "a driver never imports a sibling");
    },
    broken: [sourceOf("src/providers/codex/a.ts", `import { b } from "../gemini/b.ts";`)],
  },
  {
    name: "only compose/ names drivers",
    violations: (sources) => {
      const allowed = (target: string, path: string): boolean => {
        const driver = driverOf(target);
        return driver === null || isIn(path, "compose") || driverOf(path) === driver;
      };
      return importing(product(sources), allowed, "only compose names drivers");
    },
    broken: [sourceOf("src/agents/start/a.ts", `import { codex } from "../../providers/codex/index.ts";`)],
  },
  {
    name: "a provider's name appears only in its folder and in compose/",
    violations: (sources) => {
      const others = product(sources).filter(
        ({ path }) => !isIn(path, "compose") && !isInOne(path, providerFolders) && !(path in namesProviders),
      );
      const inCode = others.map((source) => ({ ...source, code: source.code.replaceAll(productNames, "") }));
      return containing(inCode, providerNames, "ask the provider instead");
    },
    broken: [sourceOf("src/agents/start/a.ts", `if (agent.provider === "codex") startServer();`)],
  },
  {
    name: "only the command line and the daemon read the environment or print",
    violations: (sources) => {
      const why = "only cli/ and daemon/ read the environment or print";
      const quiet = product(sources).filter(({ path }) => !isInOne(path, ["cli", "daemon"]));
      // A program that uses the SDK is in its own environment, which says who it is.
      const blind = quiet.filter(({ path }) => !isIn(path, "sdk"));
      return [
        ...containing(blind, /\b(process\.env|Bun\.env|import\.meta\.env)\b/, why),
        ...containing(quiet, /\b(console\.\w+|process\.(stdout|stderr)|Bun\.(stdout|stderr))/, why),
      ];
    },
    broken: [sourceOf("src/agents/a.ts", `console.log("started");`)],
  },
  {
    name: "one file writes to the terminal, and makes text safe for it",
    violations: (sources) => {
      const why = "only cli/output/terminal.ts writes to a terminal";
      const others = product(sources, "cli", "daemon").filter(({ path }) => !printers.includes(path));
      const printing = product(sources, "cli").filter(({ path }) => !lineMakers.includes(path));
      return [
        ...containing(others, /\b(console\.\w+\(|process\.(stdout|stderr)|Bun\.(stdout|stderr))/, why),
        ...containing(others, /\\u001b|\\x1b\[(?!\(\[)/, why),
        ...containing(printing, /\.join\("(\\n)+"\)/, "print takes a list of lines"),
      ];
    },
    broken: [sourceOf("src/cli/commands/a.ts", `process.stdout.write(message.body);`)],
  },
  ...timeRules,
  {
    name: "endpoints are typed by their transport",
    violations: (sources) =>
      containing(
        sources,
        /\blocator\??\.?\[|\blocator as\b|\blocator: (?:Readonly<)?Record\b/,
        "ask the endpoint kind of the transport for a typed locator",
      ),
    broken: [
      sourceOf("src/api/a.ts", `const pane = endpoint.locator["pane"];`),
      sourceOf("src/api/b.ts", `const { pane } = endpoint.locator as unknown as PaneLocator;`),
    ],
  },
  {
    name: "background loops run through runForever",
    violations: (sources) => {
      const served = product(sources).filter(
        ({ path }) => !isInOne(path, ["cli", "sdk", "client", "daemon"]) && !loops.includes(path),
      );
      const why = "a loop of its own ends with its first fault; runForever reports it and continues";
      return containing(served, /while \(!(\w+\.)*(signal|stop|stopping)\.aborted\)/, why);
    },
    broken: [sourceOf("src/intake/a.ts", `while (!signal.aborted) await readNext();`)],
  },
  {
    name: "api/ knows nothing of the process that serves it",
    violations: (sources) => {
      const outside = ["daemon", "cli", "mcp", "sdk", "client", "compose"];
      return importing(product(sources, "api"), (target) => !isInOne(target, outside), "api imports no face");
    },
    broken: [sourceOf("src/api/operations/a.ts", `import type { Handle } from "../../daemon/http.ts";`)],
  },
  {
    name: "an operation is defined once, with its parts, and bound in compose/",
    violations: (sources) => {
      const why = "schema, summary, access and implementation belong in one operation({…}) of api/operations/";
      const elsewhere = product(sources).filter(({ path }) => !isIn(path, "api/operations"));
      const unbound = product(sources).filter(({ path }) => !isInOne(path, ["api/operations", "compose"]));
      return [
        ...containing(elsewhere, /\boperation\(\{/, why),
        ...containing(product(sources), /Record<OperationName, (?!"GET" \| "POST">)/, why),
        ...containing(unbound, /\bbind\(\w+Operations\b/, "only compose/ gives operations their parts"),
      ];
    },
    broken: [sourceOf("src/api/summaries.ts", `export const summaries: Record<OperationName, string> = {};`)],
  },
  {
    name: "a command starts without the operations and their validator",
    violations: (sources) => {
      const byPath = new Map(sources.map((source) => [source.path, source]));
      const starts = product(sources, "cli/main", "cli/commands").map(({ path }) => path);
      const needed = new Set(starts);
      const found: string[] = [];
      for (const path of needed) {
        for (const { target, first } of byPath.get(path)?.imports ?? []) {
          if (!first) continue;
          if (target === "zod" || isIn(target, "api/operations")) found.push(`${path} imports ${target} at the start`);
          else needed.add(target);
        }
      }
      return found;
    },
    broken: [
      sourceOf("src/cli/commands/a.ts", `import { b } from "../b.ts";`),
      sourceOf("src/cli/b.ts", `import { definitions } from "../api/operations/index.ts";`),
    ],
  },
  {
    name: "no part gets everything",
    violations: (sources) => {
      const holders = product(sources).filter(({ path }) => !isIn(path, "compose") && path !== "src/daemon/daemon.ts");
      const why = "declare the parts that it needs";
      const whole = containing(holders, /\bComposition\b/, why);
      const large = product(sources).flatMap(({ path, code }) =>
        [...code.matchAll(/\binterface (\w+)[^{]*\{\n([^]*?)\n\}/g)]
          .map(([, name, body]) => ({ name: name!, members: body!.match(/^ {2}(readonly )?\w+[?(:<]/gm)?.length ?? 0 }))
          .filter(({ name, members }) => members > 20 && (isIn(path, "compose") || /(Parts|Options)$/.test(name)))
          .map(({ name, members }) => `${path} gives ${members} parts to ${name}; ${why}`),
      );
      return [...whole, ...large];
    },
    broken: [
      sourceOf(
        "src/compose/a.ts",
        `interface Switch {\n${Array.from({ length: 21 }, (_, at) => `  readonly part${at}: string;\n`).join("")}}`,
      ),
    ],
  },
  {
    name: "product code imports no test code",
    violations: (sources) =>
      importing(product(sources), (target) => !isTest(target) && target !== "bun:test", "it is test code"),
    broken: [sourceOf("src/cli/a.ts", `import { until } from "../testing/until.ts";`)],
  },
  {
    name: "imports have no cycles",
    violations: cyclesIn,
    broken: [
      sourceOf("src/model/a.ts", `import { b } from "./b.ts";`),
      sourceOf("src/model/b.ts", `import { a } from "./a.ts";`),
    ],
  },
  {
    name: "file names are camelCase",
    violations: (sources) =>
      sources
        .filter(({ path }) => /[-_]/.test(path.slice(path.lastIndexOf("/"))))
        .map(({ path }) => `${path} is not named in camelCase`),
    broken: [sourceOf("src/cli/agent-table.ts", "")],
  },
  {
    name: "a file name says what is inside",
    violations: (sources) =>
      sources
        .filter(({ path }) => /\/(types|utils?|helpers?|common|misc|shared|words)(\.ts$|\/)/.test(path))
        .map(({ path }) => `${path} does not say what is inside`),
    broken: [sourceOf("src/model/utils.ts", "")],
  },
  {
    name: "no file has more than 400 lines",
    violations: (sources) =>
      sources
        .map(({ path, text }) => ({ path, lines: text.trimEnd().split("\n").length }))
        .filter(({ lines }) => lines > 400)
        .map(({ path, lines }) => `${path} has ${lines} lines`),
    broken: [sourceOf("src/model/a.ts", "export {};\n".repeat(401))],
  },
  {
    name: "no line has more than 120 columns",
    everywhere: true,
    violations: (sources) =>
      sources.flatMap(({ path, text }) =>
        text
          .split("\n")
          .map((line, at) => ({ columns: line.length, at: at + 1 }))
          .filter(({ columns }) => columns > 120)
          .map(({ columns, at }) => `${path}:${at} has ${columns} columns`),
      ),
    broken: [sourceOf("src/model/a.ts", `export const line = "${"x".repeat(120)}";`)],
  },
  {
    name: "nothing is called Manager, Service, Helper or Util",
    violations: (sources) =>
      containing(
        product(sources),
        /\b(class|interface|function|const|type)\s+\w*(Manager|Service|Helpers?|Utils?)\b/,
        "name it after what it does",
      ),
    broken: [sourceOf("src/model/a.ts", "export class MailboxManager {}")],
  },
  {
    name: "type names are unique",
    violations: (sources) => {
      const places = new Map<string, string[]>();
      for (const { path, code } of product(sources)) {
        for (const [, name] of code.matchAll(/^export (?:interface|type|class|abstract class) (\w+)/gm)) {
          places.set(name!, [...(places.get(name!) ?? []), path]);
        }
      }
      return [...places].filter(([, paths]) => paths.length > 1).map(([name, paths]) => `${name}: ${paths.join(", ")}`);
    },
    broken: [
      sourceOf("src/model/a.ts", "export type Verdict = string;"),
      sourceOf("src/model/b.ts", "export type Verdict = number;"),
    ],
  },
];
