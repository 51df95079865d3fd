/** Writes docs/openapi.json and docs/api.md from the schemas: node_modules/.bin/bun scripts/docs-api.ts */
import { version } from "../package.json";
import { apiPage } from "../src/daemon/apiPage.ts";
import { openapi } from "../src/daemon/openapi.ts";

await Bun.write(new URL("../docs/openapi.json", import.meta.url), `${JSON.stringify(openapi(version), null, 2)}\n`);
await Bun.write(new URL("../docs/api.md", import.meta.url), apiPage());
