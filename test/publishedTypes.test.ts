import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { copyOfTree, mustSucceed } from "../src/testing/packedPackage.ts";

/** What a program that imports the package sees. Nothing else of Tieline is a promise to it. */
const published = [
  "api/access.d.ts",
  "api/operation.d.ts",
  "api/operations/index.d.ts",
  "api/schema.d.ts",
  "client/browser.d.ts",
  "client/client.d.ts",
  "client/stream.d.ts",
  "model/agent.d.ts",
  "model/delivery.d.ts",
  "model/errors.d.ts",
  "model/event.d.ts",
  "model/ids.d.ts",
  "model/message.d.ts",
  "objects/handler.d.ts",
  "sdk/agent.d.ts",
  "sdk/connect.d.ts",
  "sdk/index.d.ts",
];

test("the package publishes these declarations and no others", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tl-types-"));
  try {
    const tree = copyOfTree(folder);
    await mustSucceed(["node_modules/.bin/tsc", "-p", "tsconfig.sdk.json"], tree);
    await mustSucceed([process.execPath, "scripts/prune-types.ts"], tree);
    const files = readdirSync(join(tree, "dist/lib"), { recursive: true, encoding: "utf8" });
    expect(files.filter((path) => path.endsWith(".d.ts")).toSorted()).toEqual(published);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}, 300_000);
