import { TielineError } from "../model/errors.ts";

export interface Asset {
  readonly body: Blob;
  readonly type: string;
}

export interface PageBundle {
  /** By file name; a name changes with what is in the file. */
  readonly assets: ReadonlyMap<string, Asset>;
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

const entry = new URL("../../dashboard/main.tsx", import.meta.url).pathname;

/** The page from its sources, in memory: a checkout needs no build step, and what is served is what is there. */
export async function bundlePage(entrypoint = entry): Promise<PageBundle> {
  const { outputs } = await Bun.build({
    entrypoints: [entrypoint],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: "/assets/",
    naming: { entry: "[name]-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  }).catch((cause: unknown) => {
    throw new TielineError("NOT_INSTALLED", "the dashboard can not be put together from its sources", { remedy: "run npm install in Tieline's directory", cause });
  });
  const named = outputs.map((output) => ({ name: output.path.replace(/^(\.\/|.*\/)/, ""), kind: output.kind, output }));
  return {
    assets: new Map(named.map(({ name, output }) => [name, { body: output, type: output.type }])),
    scripts: named.flatMap(({ name, kind }) => (kind === "entry-point" && name.endsWith(".js") ? [name] : [])),
    styles: named.flatMap(({ name }) => (name.startsWith("main-") && name.endsWith(".css") ? [name] : [])),
  };
}
