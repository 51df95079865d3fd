import type { PageBundle } from "../../src/daemon/page/bundle.ts";

/** What the first view needs, gzipped: the first scripts with all that they import, and the styles. */
export async function firstViewBytes({ assets, scripts, styles }: PageBundle): Promise<number> {
  const needed = new Set(styles);
  const add = async (name: string): Promise<void> => {
    if (needed.has(name)) return;
    needed.add(name);
    const text = await assets.get(name)!.body.text();
    const imported = [...text.matchAll(/(?:\bfrom|\bimport)\s*"\/assets\/([^"]+)"/g)].map(([, file]) => file!);
    await Promise.all(imported.map(add));
  };
  await Promise.all(scripts.map(add));
  const sizes = await Promise.all(
    [...needed].map(async (name) => Bun.gzipSync(await assets.get(name)!.body.arrayBuffer()).length),
  );
  return sizes.reduce((sum, one) => sum + one, 0);
}
