/** Writes the files of the dashboard to a directory: bun scripts/build-page.ts DIRECTORY */
import { join } from "node:path";
import { bundlePage, builtEnding } from "../src/daemon/page/bundle.ts";

const { assets } = await bundlePage();
for (const [name, { body }] of assets) await Bun.write(join(process.argv[2]!, `${name}${builtEnding}`), body);
