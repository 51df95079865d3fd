import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync, cpSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTestDaemon, type TestDaemon } from "../../src/testing/daemon.ts";
import { mustSucceed, repository, unpackPackage } from "../../src/testing/packedPackage.ts";

/** The package as npm would install it, in a project of its own. */
let project: string;
let daemon: TestDaemon;

const run = (argv: readonly string[], cwd: string, env: Record<string, string> = {}): Promise<string> =>
  mustSucceed(argv, cwd, { PATH: process.env["PATH"]!, HOME: process.env["HOME"] ?? "/tmp", ...env });

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), "tl-sdk-"));
  await unpackPackage(project);
  for (const name of ["inbox", "ask", "object", "events", "client"])
    cpSync(join(import.meta.dir, `${name}.mjs`), join(project, `${name}.mjs`));
  daemon = await startTestDaemon();
}, 180_000);
afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  rmSync(project, { recursive: true, force: true });
});

const expected = {
  inbox: "user says: pretty bird\nit was answered\n",
  ask: 'builder answered: all green\nADDRESS_UNKNOWN: no agent "biulder" in team default; did you mean "builder"?\n',
  object: "2 + 40 is 42\n",
  events: "user wrote to listener\nlistener is known by token\n",
};

describe.each([
  ["Bun", process.execPath],
  ["Node", "node"],
])("under %s, from the packed package", (_, program) => {
  test.each(Object.entries(expected))(
    "%s.mjs does what it says",
    async (name, output) => {
      expect(await run([program, `${name}.mjs`], project, { TIELINE_HOME: daemon.home.root })).toBe(output);
    },
    120_000,
  );

  test("client.mjs needs a URL and a token only", async () => {
    const { token } = await daemon.agent("page");
    expect(await run([program, "client.mjs"], project, { TIELINE_URL: daemon.url, TIELINE_TOKEN: token })).toBe(
      "I am page, known by token\n",
    );
  }, 120_000);
});

test("the types are there and hold", async () => {
  for (const name of ["zod", "@types/node", "@types/bun", "bun-types", "undici-types"]) {
    mkdirSync(join(project, "node_modules", name, ".."), { recursive: true });
    symlinkSync(join(repository, "node_modules", name), join(project, "node_modules", name));
  }
  writeFileSync(join(project, "package.json"), '{"type":"module"}');
  writeFileSync(
    join(project, "typed.ts"),
    `import { connect, type Letter } from "tieline";
     import { createClient } from "tieline/client";
     const agent = await connect({ home: "/x" });
     const state: string = (await agent.send("a", "b")).deliveries[0]!.state;
     const bodies = async (): Promise<string[]> => {
       const all: string[] = [];
       for await (const letter of agent.inbox()) { const one: Letter = letter; all.push(one.body); }
       return all;
     };
     const agents = await createClient({ url: "http://x" }, {}).call("ls", {});
     export const names: string[] = agents.map((one) => one.name);
     // @ts-expect-error: a body is text
     void agent.send("a", 7); void state; void bodies;`,
  );
  const tsc = join(repository, "node_modules/.bin/tsc");
  await run(
    [
      tsc,
      "--noEmit",
      "--strict",
      "--skipLibCheck",
      "false",
      "--module",
      "nodenext",
      "--target",
      "esnext",
      "--types",
      "node",
      "typed.ts",
    ],
    project,
  );
}, 120_000);

test("the browser's entry touches nothing that only servers have", async () => {
  const code = await Bun.file(join(project, "node_modules/tieline/dist/lib/client/browser.js")).text();
  expect(code).not.toMatch(/\bfrom "|\brequire\(|\bprocess\.|\bBuffer\b|\bBun\./);
});
