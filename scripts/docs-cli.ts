/** Writes docs/cli.md from the commands and the operations that they name: node_modules/.bin/bun scripts/docs-cli.ts */
import { operationWords } from "../src/api/operationWords.ts";
import { described } from "../src/cli/help/described.ts";
import { reference } from "../src/cli/help/reference.ts";
import { loadAll } from "../src/cli/registry.ts";

await Bun.write(
  new URL("../docs/cli.md", import.meta.url),
  reference((await loadAll()).map((command) => described(command, operationWords()))),
);
