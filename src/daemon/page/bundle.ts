import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { isSingleFile } from "../../os/install.ts";

export interface Asset {
  readonly body: Blob;
  readonly type: string;
  /** As `integrity` attributes have it. */
  readonly integrity: string;
}

export interface PageBundle {
  /** By file name; a name changes with what is in the file. */
  readonly assets: ReadonlyMap<string, Asset>;
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
  /** Scripts that only some views need. */
  readonly later: readonly string[];
}

const entry = new URL("../../../dashboard/main.tsx", import.meta.url).pathname;
const builtFolder = new URL("../../../dist/page", import.meta.url).pathname;
/** What the page loads first; the rest is loaded by those who need it. */
const first = "page-";
/** The names of built files end so, in the package and in the single file. */
export const builtEnding = ".page";

/** The page as it was built into the single file or the package; a checkout builds it from its sources, in memory. */
export async function bundlePage(): Promise<PageBundle> {
  const built = existsSync(entry) ? [] : builtFiles();
  if (built.length > 0)
    return bundleOf(built.map(({ name, body }) => ({ name: name.slice(0, -builtEnding.length), body })));
  const { outputs } = await Bun.build({
    entrypoints: [entry],
    target: "browser",
    format: "esm",
    splitting: true,
    minify: true,
    publicPath: "/assets/",
    naming: { entry: `${first}[hash].[ext]`, chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    define: { "process.env.NODE_ENV": '"production"' },
  }).catch((cause: unknown) => {
    throw new TielineError("NOT_INSTALLED", "the dashboard cannot be built from its sources", {
      remedy: "run npm install in Tieline's directory",
      cause,
    });
  });
  return bundleOf(outputs.map((output) => ({ name: output.path.replace(/^.*\//, ""), body: output })));
}

function builtFiles(): { readonly name: string; readonly body: Blob }[] {
  const inPackage = isSingleFile || !existsSync(builtFolder) ? [] : readdirSync(builtFolder);
  return [
    ...Bun.embeddedFiles.map((file) => ({ name: (file as File).name, body: file })),
    ...inPackage.map((name) => ({ name, body: Bun.file(join(builtFolder, name)) })),
  ].filter(({ name }) => name.endsWith(builtEnding));
}

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

async function bundleOf(files: readonly { readonly name: string; readonly body: Blob }[]): Promise<PageBundle> {
  const those = (ending: string, isFirst: boolean): string[] =>
    files.map(({ name }) => name).filter((name) => name.startsWith(first) === isFirst && name.endsWith(ending));
  const typeOf = (name: string): string => types[name.split(".").at(-1)!] ?? "application/octet-stream";
  const assets = await Promise.all(
    files.map(
      async ({ name, body }) => [name, { body, type: typeOf(name), integrity: await integrityOf(body) }] as const,
    ),
  );
  return {
    assets: new Map(assets),
    scripts: those(".js", true),
    styles: those(".css", true),
    later: those(".js", false),
  };
}

async function integrityOf(body: Blob): Promise<string> {
  return `sha256-${new Bun.CryptoHasher("sha256").update(await body.arrayBuffer()).digest("base64")}`;
}
