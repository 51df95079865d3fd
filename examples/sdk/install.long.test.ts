import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestDaemon, type TestDaemon } from "../../src/testing/daemon.ts";

/** As somebody would do it: `npm install` of the package, then a program that imports it. */
const root = join(import.meta.dir, "../..");
let project: string;
let daemon: TestDaemon;

async function run(argv: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<string> {
  const child = Bun.spawn([...argv], { cwd, env: { ...process.env, ...env }, stdout: "pipe", stderr: "pipe" });
  const [code, stdout, stderr] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  if (code !== 0) throw new Error(`${argv.join(" ")}: exit ${code}\n${stdout}${stderr}`);
  return stdout;
}

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "tl-install-"));
  const [packed] = JSON.parse(await run(["npm", "pack", "--json", "--pack-destination", project], root)) as {
    filename: string;
  }[];
  writeFileSync(join(project, "package.json"), '{"private":true,"type":"module"}');
  await run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", `./${packed!.filename}`], project);
  cpSync(join(import.meta.dir, "ask.mjs"), join(project, "ask.mjs"));
  daemon = await startTestDaemon();
});
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});

test.each([
  ["Node", "node"],
  ["Bun", process.execPath],
])("the installed package works in %s", async (_, program) => {
  expect(await run([program, "ask.mjs"], project, { TIELINE_HOME: daemon.home.root })).toStartWith(
    "builder answered: all green\n",
  );
});

test("the installed package has its types", async () => {
  writeFileSync(
    join(project, "typed.ts"),
    `import { connect, TielineError } from "tieline";
import { createClient } from "tieline/client";

const me = await connect({ team: "web" });
const { tag, deliveries }: { tag: string; deliveries: readonly { agent: string }[] } = await me.send("engineer", "please look", { when: "tool" });
for await (const message of me.inbox()) {
  const body: string = message.body;
  await message.reply(body + tag + deliveries.length);
}
const agents = await createClient({ url: "http://127.0.0.1:1" }, {}).call("ls", {});
const names: string[] = agents.map(({ name }) => name);
if (names[0] === new TielineError("USAGE", "x", { remedy: "y" }).code) await me.registerObject({ name: "adder", onMessage: ({ body }) => body });
// @ts-expect-error there is no such moment
await me.send("engineer", "x", { when: "later" });
`,
  );
  const strict = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", ""];
  await run([join(root, "node_modules/.bin/tsc"), ...strict, "typed.ts"], project);
});

test("the installed command works, and finds its Bun", async () => {
  expect(
    await run([join(project, "node_modules/.bin/tieline"), "whoami"], project, { TIELINE_HOME: daemon.home.root }),
  ).toStartWith("user in team default");
});
