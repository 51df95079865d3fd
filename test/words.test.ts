import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** One plain vocabulary: GLOSSARY.md has the words, and these are not used. */
const retired: Readonly<Record<string, string>> = {
  somebody: "name the agent, user, program or client",
  nobody: "say what is missing: no agent, no client, no proof",
  everybody: "all agents, all readers",
  whoever: "the process, agent or caller that …",
  anybody: "any agent, any caller",
  "can not": "cannot",
  anew: "again",
  lately: "recently, or the time",
  besides: "in addition to, other",
  stands: "is",
  "is told": "gets, sees, receives",
  "are told": "get, see, receive",
  "was told": "got, saw, received",
  "goes on": "continues",
  "way in": "endpoint, transport or intake",
  "ways in": "endpoints, transports or intakes",
  "way out": "transport",
  "ways out": "transports",
  waysIn: "endpoints",
  person: "user",
  story: "history",
  handed: "delivered",
  settling: "settle",
  settleIn: "settle is for claims only",
  glance: "PaneSnapshot",
  glimpse: "PaneSnapshot",
  errand: "attempt",
  foresee: "prefetch",
  foresight: "prefetch",
  heeding: "reported state",
  witness: "TranscriptWatcher",
  "own word": "reported state, or as user",
  "user's word": "as user",
  "peer's word": "as peer",
  "of it": "leave it out, or name the thing",
  boundary: "pull, the lane",
  sight: "visible, PaneSnapshot",
  standing: "state, progress",
  survey: "refresh",
  eyes: "a reader, PaneSnapshot",
};

/** Where a retired word must stay, and why. */
const allowed: readonly { readonly path: string; readonly words: readonly string[]; readonly why: string }[] = [
  { path: "test/words.test.ts", words: Object.keys(retired), why: "this list" },
  { path: "src/mailbox/sqlite/", words: ["handed", "person", "boundary"], why: "reads mailboxes of 0.1.0" },
  { path: "src/events/sqlite.ts", words: ["handed"], why: "reads event logs of 0.1.0" },
  { path: "test/upgrade.test.ts", words: ["handed", "person", "boundary"], why: "a home of 0.1.0" },
  { path: "docs/security.md", words: ["boundary"], why: "a security boundary" },
];

const root = join(import.meta.dir, "..");
const trees = ["src", "test", "dashboard", "bench", "examples", "docs", "skills", "scripts", "bin"];
const patterns = [...trees.map((tree) => `${tree}/**/*`), "*.md", "*.json"];
const isText = /\.(ts|tsx|md|css|html|sh|json)$|^(scripts|bin)\/[^.]+$/;

interface Use {
  readonly line: number;
  readonly word: string;
}

/** Whole words in any case; a phrase may be broken over two lines of a comment or a text. */
function retiredWordsIn(text: string): Use[] {
  return Object.keys(retired).flatMap((word) => {
    const pattern = new RegExp(
      `(?<![\\w-])${word.replace(" ", '(?: |\\s*\\n\\s*(?:\\*|//|#|>|")? *)')}(?![\\w-])`,
      "gi",
    );
    return [...text.matchAll(pattern)].map(({ index }) => ({ line: text.slice(0, index).split("\n").length, word }));
  });
}

const isAllowed = (path: string, word: string): boolean =>
  allowed.some((place) => path.startsWith(place.path) && place.words.includes(word));

function sources(): string[] {
  const found = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })]);
  return found.filter((path) => isText.test(path) && !path.includes("node_modules") && path !== "package-lock.json");
}

describe("retired words", () => {
  test("are found as whole words, in any case, over line breaks", () => {
    const text =
      "Somebody\nis here\n/** What he is\n * told. */\nunhanded, ways-in, cannot, stand\nconst Errand = 1;\n";
    expect(retiredWordsIn(text)).toEqual([
      { line: 1, word: "somebody" },
      { line: 3, word: "is told" },
      { line: 6, word: "errand" },
    ]);
  });

  test("are in no file", () => {
    const files = sources();
    expect(files.length).toBeGreaterThan(500);
    const uses = files.flatMap((path) =>
      retiredWordsIn(readFileSync(join(root, path), "utf8"))
        .filter(({ word }) => !isAllowed(path, word))
        .map(({ line, word }) => `${path}:${line}: "${word}"; write: ${retired[word]}`),
    );
    expect(uses).toEqual([]);
  });

  test("are needed in each allowed place", () => {
    const files = sources();
    for (const { path, words } of allowed) {
      const texts = files.filter((file) => file.startsWith(path)).map((file) => readFileSync(join(root, file), "utf8"));
      const used = new Set(texts.flatMap(retiredWordsIn).map(({ word }) => word));
      expect(
        words.filter((word) => !used.has(word)),
        path,
      ).toEqual([]);
    }
  });
});
