/**
 * Makes dist/cli/main.js: the command line and the commands that people and agents give all day, in one file. Reading
 * fifteen small ones takes Bun longer than everything that `tieline send` does. What is imported only when it is
 * needed stays where it is, in the sources. bin/tieline takes the file as long as none of the sources is newer.
 */
import { mkdirSync, renameSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const outdir = join(root, "dist/cli");
const frequent = ["send", "reply", "broadcast", "inbox", "status"].map((name) => join(root, "src/cli/commands", `${name}.ts`));

const built = await Bun.build({
  entrypoints: [join(root, "src/cli/main.ts")],
  target: "bun",
  minify: { whitespace: true, syntax: true },
  plugins: [
    {
      name: "only when needed",
      setup(build) {
        build.onResolve({ filter: /^\.{1,2}\// }, ({ path, importer, kind }) => {
          const file = resolve(dirname(importer), path);
          if (kind !== "dynamic-import" || frequent.includes(file)) return undefined;
          return { path: relative(outdir, file), external: true };
        });
      },
    },
  ],
});
mkdirSync(outdir, { recursive: true });
const draft = join(outdir, `main.${process.pid}`);
await Bun.write(draft, built.outputs[0]!);
renameSync(draft, join(outdir, "main.js"));
