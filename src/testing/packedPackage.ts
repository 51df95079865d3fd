import { cpSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { resultOf } from "./childResult.ts";

export const repository = join(import.meta.dir, "../..");

/** Runs a program to its end; throws with all that it printed when it fails. */
export async function mustSucceed(
  argv: readonly string[],
  cwd: string,
  env: Record<string, string | undefined> = process.env,
): Promise<string> {
  const child = Bun.spawn([...argv], { cwd, env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const { code, stdout, stderr } = await resultOf(child);
  if (code !== 0) throw new Error(`${argv.join(" ")}: exit ${code}\n${stdout}${stderr}`);
  return stdout;
}

/** A copy of the tree below `dir`, to build in: a build in the tree itself would replace files that other tests run. */
export function copyOfTree(dir: string): string {
  const copy = join(dir, "tree");
  mkdirSync(copy);
  const left = [".git", "node_modules", "dist", ".dev", "fixtures", "test", "bench"];
  for (const name of readdirSync(repository))
    if (!left.includes(name)) cpSync(join(repository, name), join(copy, name), { recursive: true });
  symlinkSync(join(repository, "node_modules"), join(copy, "node_modules"));
  return copy;
}

/** `npm pack` of a copy; the path of the tarball, in `dir`. */
export async function packPackage(dir: string): Promise<string> {
  const printed = await mustSucceed(["npm", "pack", "--json", "--pack-destination", dir], copyOfTree(dir));
  const [{ filename }] = JSON.parse(printed) as [{ filename: string }];
  return join(dir, filename);
}

/** The package below `node_modules` of `dir`, with the dependencies of the tree beside it. */
export async function unpackPackage(dir: string): Promise<string> {
  const installed = join(dir, "node_modules/tieline");
  mkdirSync(installed, { recursive: true });
  await mustSucceed(["tar", "-xzf", await packPackage(dir), "--strip-components=1", "-C", installed], dir);
  return installed;
}
