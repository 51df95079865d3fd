/** Writes docs/configuration.md from the schemas; with --check it only says whether the file is current. */
import { join } from "node:path";
import { configurationPage } from "../src/config/page.ts";

const file = Bun.file(join(import.meta.dir, "..", "docs", "configuration.md"));
const page = configurationPage();

if (!process.argv.includes("--check")) {
  await Bun.write(file, page);
} else if ((await file.text()) !== page) {
  console.error("docs/configuration.md is not current; run scripts/docs-config.ts");
  process.exit(1);
}
