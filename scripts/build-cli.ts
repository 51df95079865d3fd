/**
 * Makes dist/cli/main.js: the command line and the commands that people and agents give all day, in one file that is
 * compiled already. Reading fifteen small ones takes Bun longer than everything that `tieline send` does. What is
 * imported only when it is needed stays where it is, in the sources. bin/tieline takes the file as long as none of the
 * sources is newer, and another Bun leaves the compiled form alone.
 */
import { mkdirSync, renameSync } from "node:fs";
import { basename, dirname, join, relative, resolve } from "node:path";

const root = resolve(import.meta.dir, "..");
const outdir = join(root, "dist/cli");
const frequent = ["send", "reply", "broadcast", "inbox", "status"].map((name) =>
  join(root, "src/cli/commands", `${name}.ts`),
);

const built = await Bun.build({
  entrypoints: [join(root, "src/cli/main.ts")],
  target: "bun",
  // Bun keeps compiled code only of this format.
  format: "cjs",
  bytecode: true,
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
// The compiled form first: it counts only beside the text that it was made of.
for (const output of built.outputs.toReversed()) {
  const file = join(outdir, basename(output.path));
  await Bun.write(`${file}.${process.pid}`, output);
  renameSync(`${file}.${process.pid}`, file);
}
