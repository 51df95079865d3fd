/**
 * Writes docs/openapi.json, docs/api.md and the table of docs/mcp.md from the operations:
 * node_modules/.bin/bun scripts/docs-api.ts
 */
import { version } from "../package.json";
import { apiPage } from "../src/daemon/apiPage.ts";
import { openapi } from "../src/daemon/openapi.ts";
import { tools } from "../src/mcp/tools.ts";

await Bun.write(new URL("../docs/openapi.json", import.meta.url), `${JSON.stringify(openapi(version), null, 2)}\n`);
await Bun.write(new URL("../docs/api.md", import.meta.url), apiPage());

const mcp = Bun.file(new URL("../docs/mcp.md", import.meta.url));
const rows = tools.map(({ name, description }) => `| \`${name}\` | ${description} |\n`).join("");
await Bun.write(
  mcp,
  (await mcp.text()).replace(/(\| Tool \|.*\n\|---\|---\|\n)(\|.*\n)*/, (_, head: string) => head + rows),
);
