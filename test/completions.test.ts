import { afterAll, beforeAll, expect } from "bun:test";
import type { ReceiptView } from "../src/api/schema.ts";
import { lackUnless, testUnless, type Lack } from "../src/testing/needing.ts";
import { startWorld, type World } from "../src/testing/world.ts";

let world: World;
let tag: string;
beforeAll(async () => {
  world = await startWorld({
    files: { "tieline.yaml": "team: web\nagents:\n  ana: { command: [cat] }\n  zoe: { command: [cat] }\n" },
  });
  await world.json(["up", "ana"]);
  await world.json(["team", "create", "webhooks"]);
  ({ tag } = await world.json<ReceiptView>(["send", "ana", "hello"]));
}, 60_000);
afterAll(() => world[Symbol.asyncDispose]());

/** What a shell offers after these words; the last may be the beginning of one. */
type Offers = (...words: string[]) => Promise<string[]>;

async function run(argv: readonly string[], stdin = ""): Promise<string> {
  const child = Bun.spawn([...argv], {
    cwd: world.project,
    env: world.env,
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "inherit",
  });
  return new Response(child.stdout).text();
}

const shells: Readonly<Record<string, Offers>> = {
  async bash(...words) {
    const script =
      `eval "$(tieline completions bash)"; COMP_WORDS=(tieline ${words.map((word) => `'${word}'`).join(" ")}); ` +
      `COMP_CWORD=${words.length}; _tieline; printf '%s\\n' "\${COMPREPLY[@]}"`;
    return (await run(["bash", "-c", script])).trim().split("\n").toSorted();
  },
  async fish(...words) {
    const offered = await run([
      "fish",
      "--no-config",
      "-c",
      `tieline completions fish | source; complete -C 'tieline ${words.join(" ")}'`,
    ]);
    return offered
      .trim()
      .split("\n")
      .map((line) => line.split("\t")[0]!)
      .toSorted();
  },
};

/** One of each kind; in every case one value has this beginning. */
const cases = (): [words: string[], offered: string][] => [
  [["spawn", "zo"], "zoe"],
  [["kill", "an"], "ana"],
  [["team", "show", "webh"], "webhooks"],
  [["log", "--team", "webh"], "webhooks"],
  [["status", tag.slice(0, 12)], tag],
  [["log", "--thread", tag.slice(0, 12)], tag],
  [["profiles", "add", "new", "--profile", "revi"], "reviewer"],
];

const lackOf = (shell: string): Lack => lackUnless(Bun.which(shell) !== null, `${shell} is missing here`);

for (const shell of ["bash", "fish"]) {
  testUnless(lackOf(shell))(
    `${shell} offers profiles, agents, teams and tags`,
    async () => {
      for (const [words, offered] of cases())
        expect([words, await shells[shell]!(...words)]).toEqual([words, [offered]]);
    },
    60_000,
  );
}

testUnless(lackOf("zsh"))("zsh lists profiles, agents, teams and tags", async () => {
  const prelude = 'compdef() {}; compadd() { print -l -- ${(P)2} }; eval "$(tieline completions zsh)"';
  const listed = async (kind: string): Promise<string[]> =>
    (await run(["zsh", "-f", "-c", `${prelude}; _tieline_${kind}s`])).trim().split("\n");
  expect(await listed("profile")).toContainValues(["ana", "zoe", "engineer"]);
  expect(await listed("agent")).toEqual(["ana"]);
  expect(await listed("team")).toContainValues(["web", "webhooks"]);
  expect(await listed("tag")).toEqual([tag]);
});
