import { expect, test } from "bun:test";
import { operationWords } from "../../api/operationWords.ts";
import { loadAll } from "../registry.ts";
import { described } from "./described.ts";
import { helpFor } from "./help.ts";

const plain = (_style: string, text: string): string => text;

test("the help of every command fits into a terminal of 100 columns", async () => {
  const commands = (await loadAll()).map((command) => described(command, operationWords()));
  const lines = commands.flatMap((command) => helpFor(command, plain));
  expect(lines.length).toBeGreaterThan(500);
  expect(lines.filter((line) => line.length > 100)).toEqual([]);
});
