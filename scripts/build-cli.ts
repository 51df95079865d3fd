/**
 * Makes dist/cli/main.js: the command line and the commands that users and agents run all day, in one compiled file.
 * Bun takes longer to read fifteen small files than `tieline send` takes for everything else. Modules behind `import()`
 * stay in the sources. bin/tieline runs this file where there is no src/cli/main.ts, which is in the package.
 */
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
await Promise.all(built.outputs.map((output) => Bun.write(join(outdir, basename(output.path)), output)));
