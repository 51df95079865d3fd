/** Removes the declarations in dist/lib that the published entries do not lead to: bun scripts/prune-types.ts */
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

const root = resolve(import.meta.dir, "../dist/lib");
const entries = ["sdk/index.d.ts", "client/browser.d.ts"].map((file) => join(root, file));

const reached = new Set(entries);
for (const file of reached) {
  for (const [, target] of readFileSync(file, "utf8").matchAll(/(?:from |import\()"(\.[^"]+)"/g))
    reached.add(resolve(dirname(file), target!.replace(/(\.d)?\.[jt]s$/, ".d.ts")));
}
for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
  const file = join(root, path);
  if (path.endsWith(".d.ts") && !reached.has(file)) rmSync(file);
}
