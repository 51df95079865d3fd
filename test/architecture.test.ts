import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/**
 * The import law, read off the imports themselves:
 * model ← ports ← router, courier ← faces. Every rule answers with the sentences that say who breaks it.
 */
const root = join(import.meta.dir, "..");

interface Import {
  /** A path below the root for our own files, else the name of a module. */
  readonly target: string;
  /** Needed before the importing file can run: neither `import type`, which is erased, nor `import()`, which waits. */
  readonly first: boolean;
}

interface Source {
  readonly path: string;
  readonly code: string;
  readonly lines: number;
  readonly imports: readonly Import[];
}

const sources = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((path) => path.endsWith(".ts"))
  .map((path) => read(join("src", path)))
  .toSorted((a, b) => (a.path < b.path ? -1 : 1));
/** What ships. Tests and the contract suites may name anything. */
const product = sources.filter(({ path }) => !path.endsWith(".test.ts") && !path.startsWith("src/testing/"));

function read(path: string): Source {
  const text = readFileSync(join(root, path), "utf8");
  const code = withoutComments(text);
  return { path, code, lines: text.trimEnd().split("\n").length, imports: importsOf(path, code) };
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[^]*?\*\//g, "").replaceAll(/(^|\s)\/\/.*$/gm, "$1");
}

function importsOf(path: string, code: string): Import[] {
  const statement = /(?:^|;)\s*(?:import|export)\s+(type\s)?(?:[^;"'`]*?\sfrom\s+)?"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...code.matchAll(statement)].map(([, type, named, loaded]) => {
    const specifier = (named ?? loaded)!;
    const target = specifier.startsWith(".") ? normalize(join(dirname(path), specifier)) : specifier;
    return { target, first: type === undefined && loaded === undefined };
  });
}

/** Each import of the given files that the rule does not allow, as a sentence. */
function forbidden(files: readonly Source[], allowed: (target: string, from: Source) => boolean, law: string): string[] {
  return files.flatMap((from) =>
    from.imports.filter(({ target }) => !allowed(target, from)).map(({ target }) => `${from.path} imports ${target}; ${law}`),
  );
}

/** Each use of something that only others may use, as a sentence. */
function uses(files: readonly Source[], what: RegExp, law: string): string[] {
  return files.flatMap(({ path, code }) => {
    const found = what.exec(code);
    return found ? [`${path} uses ${found[0].trim()}; ${law}`] : [];
  });
}

const below = (...folders: string[]): Source[] => product.filter(({ path }) => folders.some((folder) => isIn(path, folder)));
const isIn = (path: string, folder: string): boolean => path === `src/${folder}.ts` || path.startsWith(`src/${folder}/`);
const isOurs = (target: string): boolean => target.startsWith("src/");
const isRuntime = (target: string): boolean => target.startsWith("node:") || target === "bun" || target.startsWith("bun:");

/** Ways to do the same thing, of which a switch is composed. A driver is a folder, or a file where a folder would be idle. */
const driverFolders = ["mailbox", "transports", "directory/documents", "providers"];
const sharedWithin = ["src/providers/screen"];

function driverOf(path: string): string | null {
  for (const folder of driverFolders) {
    const rest = path.startsWith(`src/${folder}/`) ? path.slice(`src/${folder}/`.length) : "";
    const driver = `src/${folder}/${rest.split("/")[0]}`;
    if (rest.includes("/") && !sharedWithin.includes(driver)) return driver;
  }
  const document = /^src\/directory\/documents\/(memory|sqlite)\.ts$/.exec(path);
  return document ? path : null;
}

describe("the import law", () => {
  test("there is something to read", () => {
    expect(product.length).toBeGreaterThan(50);
    expect(product.flatMap(({ imports }) => imports).length).toBeGreaterThan(100);
    const missing = sources.flatMap(({ path, imports }) =>
      imports.filter(({ target }) => isOurs(target) && target.endsWith(".ts") && !sources.some((one) => one.path === target)).map(({ target }) => `${path} imports ${target}`),
    );
    expect(missing).toEqual([]);
  });

  test("model imports nothing outside itself", () => {
    expect(forbidden(below("model"), (target) => isIn(target, "model"), "model imports nothing outside itself")).toEqual([]);
  });

  test("the core uses web standards only", () => {
    const core = below("model", "addressing", "topology", "router", "courier");
    const law = "the core uses web standards only";
    expect(forbidden(core, (target) => !isRuntime(target), law)).toEqual([]);
    expect(uses(core, /\b(Bun|process|Buffer|require)\s*[.(]/, law)).toEqual([]);
  });

  test("the core knows no driver, no runtime part and no face", () => {
    const core = below("addressing", "topology", "router", "courier");
    const outside = ["tmux", "providers", "daemon", "client", "cli", "mcp", "intake", "compose", "sqlite", "config"];
    const law = "the core stands on model and ports";
    expect(forbidden(core, (target) => !outside.some((folder) => isIn(target, folder)), law)).toEqual([]);
  });

  test("tmux knows tmux, and nothing of messages", () => {
    const allowed = (target: string): boolean => !isOurs(target) || isIn(target, "tmux") || isIn(target, "model");
    expect(forbidden(below("tmux"), allowed, "tmux imports only model and itself")).toEqual([]);
  });

  test("a driver never imports a sibling", () => {
    const allowed = (target: string, { path }: Source): boolean => {
      const [own, other] = [driverOf(path), driverOf(target)];
      return own === null || other === null || own === other || dirname(own) !== dirname(other);
    };
    expect(forbidden(product, allowed, "a driver never imports a sibling")).toEqual([]);
  });

  test("only the composition names concrete drivers", () => {
    const concrete = (target: string): string | null => {
      const driver = driverOf(target);
      return driver?.startsWith("src/providers/") ? null : driver;
    };
    const allowed = (target: string, { path }: Source): boolean =>
      isIn(path, "compose") || concrete(target) === null || driverOf(path) === concrete(target);
    expect(forbidden(product, allowed, "only the composition and tests name concrete drivers")).toEqual([]);
  });

  test("only the faces read the environment or print", () => {
    const quiet = product.filter(({ path }) => !isIn(path, "cli") && !isIn(path, "daemon"));
    const law = "only cli/ and daemon/ read the environment or print";
    // A program that uses the SDK is in its own environment, which says who it is.
    const blind = quiet.filter(({ path }) => !isIn(path, "sdk"));
    expect(uses(blind, /\b(process\.env|Bun\.env|import\.meta\.env)\b/, law)).toEqual([]);
    expect(uses(quiet, /\b(console\.\w+|process\.(stdout|stderr)|Bun\.(stdout|stderr))/, law)).toEqual([]);
  });

  test("one file prints, and makes what it prints safe for a terminal", () => {
    // The daemon's process says one line to its starter; MCP speaks its protocol there; the log falls back to stderr.
    const exempt = ["src/cli/terminal.ts", "src/cli/commands/mcp.ts", "src/daemon/main.ts", "src/daemon/log.ts"];
    const others = below("cli", "daemon").filter(({ path }) => !exempt.includes(path));
    const law = "only cli/terminal.ts writes to a terminal";
    expect(uses(others, /\b(console\.\w+\(|process\.(stdout|stderr)|Bun\.(stdout|stderr))/, law)).toEqual([]);
    expect(uses(others, /\\u001b|\\x1b\[(?!\(\[)/, law)).toEqual([]);
    // Each entry of a list is one line: text that is joined by newlines would be shown as one.
    const makers = ["src/cli/reference.ts", "src/cli/completions.ts", "src/cli/fenced-block.ts", "src/cli/tail.ts"];
    const printers = below("cli").filter(({ path }) => !makers.includes(path));
    expect(uses(printers, /\.join\("(\\n)+"\)/, "print takes a list of lines")).toEqual([]);
  });

  test("background loops run through runForever, which reports what fails and goes on", () => {
    const law = "a loop of its own ends with its first fault; give each step to runForever";
    // A round of the courier ends by itself, and serving/rounds.ts asks for the next.
    const exempt = ["src/os/runForever.ts", "src/courier.ts"];
    const served = product.filter(({ path }) => !["cli", "sdk", "client", "daemon"].some((face) => isIn(path, face)) && !exempt.includes(path));
    expect(uses(served, /while \(!(\w+\.)*(signal|stop|stopping)\.aborted\)/, law)).toEqual([]);
  });

  test("nobody imports the contract suites or tests", () => {
    const allowed = (target: string): boolean => !isIn(target, "testing") && !target.endsWith(".test.ts") && target !== "bun:test";
    expect(forbidden(product, allowed, "what ships needs no test code")).toEqual([]);
  });

  test("imports have no cycles", () => {
    expect(cycles()).toEqual([]);
  });
});

describe("the shape of files", () => {
  test("no file is named after nothing in particular", () => {
    const vague = /\/(types|utils?|helpers?|common|misc|shared)(\.ts$|\/)/;
    expect(sources.filter(({ path }) => vague.test(path)).map(({ path }) => `${path} says nothing about what is in it`)).toEqual([]);
  });

  test("no file needs a table of contents", () => {
    const long = sources.filter(({ lines }) => lines > 400);
    expect(long.map(({ path, lines }) => `${path} has ${lines} lines; above 400 it is two files`)).toEqual([]);
  });

  test("nothing is called Manager, Service, Helper or Util", () => {
    const law = "name it by what it does";
    expect(uses(product, /\b(class|interface|function|const|type)\s+\w*(Manager|Service|Helpers?|Utils?)\b/, law)).toEqual([]);
  });
});

/** Every loop of files that need each other first, each named once. */
function cycles(): string[] {
  const edges = new Map(sources.map(({ path, imports }) => [path, imports.filter((one) => one.first).map((one) => one.target)]));
  const found = new Set<string>();
  const finished = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path);
    if (start >= 0) {
      found.add([...trail.slice(start), path].join(" → "));
    } else if (!finished.has(path)) {
      for (const target of edges.get(path) ?? []) visit(target, [...trail, path]);
      finished.add(path);
    }
  };
  for (const path of edges.keys()) visit(path, []);
  return [...found];
}
