/** Writes docs/cli.md from the commands: node_modules/.bin/bun scripts/docs-cli.ts */
import { reference } from "../src/cli/reference.ts";
import { loadAll } from "../src/cli/registry.ts";

await Bun.write(new URL("../docs/cli.md", import.meta.url), reference(await loadAll()));
