import { expect, test } from "bun:test";
import { operationWords } from "../../api/operationWords.ts";
import { described } from "./described.ts";
import { reference } from "./reference.ts";
import { loadAll } from "../registry.ts";

test("docs/cli.md says what the commands say; `scripts/docs-cli.ts` writes it", async () => {
  const written = await Bun.file(new URL("../../../docs/cli.md", import.meta.url)).text();
  expect(written).toBe(reference((await loadAll()).map((command) => described(command, operationWords()))));
});
