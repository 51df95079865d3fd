import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../../os/sqlite/connection.ts";
import { memoryDocuments } from "./memory.ts";
import type { Documents } from "./port.ts";
import { documentMigrations, sqliteDocuments } from "./sqlite.ts";

const cleanUps: (() => void)[] = [];
afterEach(() => cleanUps.splice(0).forEach((cleanUp) => cleanUp()));

function onDisk(): Documents {
  const directory = mkdtempSync(join(tmpdir(), "tieline-documents-"));
  const path = join(directory, "x.db");
  const connection = connect(path, { documents: documentMigrations });
  cleanUps.push(() => {
    connection[Symbol.dispose]();
    rmSync(directory, { recursive: true });
  });
  return sqliteDocuments(connection);
}

describe.each([
  ["memory", memoryDocuments],
  ["sqlite", onDisk],
])("documents contract: %s", (_, open) => {
  test("keeps kinds apart, in the order in which their keys came", () => {
    const documents = open();
    documents.put("agent", "b", { name: "bob" });
    documents.put("agent", "a", { name: "ana" });
    documents.put("team", "b", ["web"]);
    expect(documents.all("agent")).toEqual([
      { key: "b", value: { name: "bob" } },
      { key: "a", value: { name: "ana" } },
    ]);
    expect(documents.all("nothing")).toEqual([]);
  });

  test("a second put replaces, a remove removes, and both may be repeated", () => {
    const documents = open();
    documents.put("agent", "a", { note: 1 });
    documents.put("agent", "a", { note: 2 });
    expect(documents.all("agent")).toEqual([{ key: "a", value: { note: 2 } }]);
    documents.remove("agent", "a");
    documents.remove("agent", "a");
    expect(documents.all("agent")).toEqual([]);
  });

  test("what is put is a copy", () => {
    const documents = open();
    const value = { edges: ["a -> b"] };
    documents.put("edges", "web", value);
    value.edges.push("b -> a");
    expect(documents.all("edges")[0]!.value).toEqual({ edges: ["a -> b"] });
  });
});
