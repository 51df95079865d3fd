import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestDaemon, type TestDaemon } from "../../src/testing/daemon.ts";
import { mustSucceed, packPackage, repository } from "../../src/testing/packedPackage.ts";
import { startWorld } from "../../src/testing/world.ts";

/** As a user would do it: `npm install` of the package, then a program that imports it. */
let project: string;
let daemon: TestDaemon;

const run = (argv: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<string> =>
  mustSucceed(argv, cwd, { ...process.env, ...env });

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "tl-install-"));
  const tarball = await packPackage(project);
  writeFileSync(join(project, "package.json"), '{"private":true,"type":"module"}');
  await run(["npm", "install", "--ignore-scripts", "--no-audit", "--no-fund", tarball], project);
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
type Sent = { tag: string; deliveries: readonly { agent: string }[] };
const { tag, deliveries }: Sent = await me.send("engineer", "please look", { when: "tool" });
for await (const message of me.inbox()) {
  const body: string = message.body;
  await message.reply(body + tag + deliveries.length);
}
const agents = await createClient({ url: "http://127.0.0.1:1" }, {}).call("ls", {});
const names: string[] = agents.map(({ name }) => name);
if (names[0] === new TielineError("USAGE", "x", { remedy: "y" }).code)
  await me.registerObject({ name: "adder", onMessage: ({ body }) => body });
// @ts-expect-error there is no such moment
await me.send("engineer", "x", { when: "later" });
`,
  );
  const strict = ["--noEmit", "--strict", "--target", "es2022", "--module", "nodenext", "--types", ""];
  await run([join(repository, "node_modules/.bin/tsc"), ...strict, "typed.ts"], project);
});

test("the installed package is small", () => {
  const installed = readdirSync(join(project, "node_modules"), { recursive: true, encoding: "utf8" });
  const packages = installed.filter((path) => /^(@[^/]+\/)?[^/]+\/package\.json$/.test(path));
  expect(packages.length).toBeLessThan(30);
});

test("the installed command starts a daemon, sends a message, and serves the page", async () => {
  await using world = await startWorld({ launcher: join(project, "node_modules/.bin/tieline") });
  await world.json(["adopt", await world.pane(["cat"]), "--name", "ana"]);
  expect((await world.tieline(["send", "ana", "hello", "--wait", "delivered"])).stdout).toContain("delivered");
  expect((await world.inbox("ana")).map(({ body }) => body)).toEqual(["hello"]);
  const [link] = (await world.tieline(["dash", "--no-open"])).stdout.match(/http:\S+/)!;
  const page = await (await fetch(new URL("/", link))).text();
  const [, script] = /src="(\/assets\/[^"]+\.js)"/.exec(page)!;
  expect((await fetch(new URL(script!, link))).headers.get("content-type")).toStartWith("text/javascript");
});
