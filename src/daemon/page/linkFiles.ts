/** Files that lead a browser to a link, so that its code is in the arguments of no process. */
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import type { RandomBytes } from "../../model/ids.ts";

const named = /^open-[0-9a-f]+\.html$/;

export class LinkFiles {
  readonly #report: (context: string, fault: unknown) => void;

  /** Removes what an earlier daemon left behind in its directory: those codes died with it. */
  constructor(
    directory: string,
    report: (context: string, fault: unknown) => void,
    private readonly random: RandomBytes,
  ) {
    this.#report = report;
    for (const name of readdirSync(directory)) if (named.test(name)) this.remove(join(directory, name));
  }

  write(url: string, directory: string): string {
    if (!isAbsolute(directory))
      throw new TielineError("USAGE", `${directory} is not an absolute path`, {
        remedy: "name a directory by its whole path",
        operands: { directory },
      });
    const file = join(directory, `open-${Buffer.from(this.random(8)).toString("hex")}.html`);
    const page =
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tieline</title><meta name="referrer" ` +
      `content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}"><p><a href="${url}">Open the ` +
      `dashboard</a></p></html>\n`;
    try {
      writeFileSync(file, page, { mode: 0o600, flag: "wx" });
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause);
      throw new TielineError("USAGE", `no file can be written into ${directory}: ${why}`, {
        remedy: "name a directory of yours, or leave it out and open the link by hand",
        operands: { directory },
        cause,
      });
    }
    return file;
  }

  remove(file: string): void {
    try {
      rmSync(file, { force: true });
    } catch (thrown) {
      this.#report(`removing ${file}`, thrown);
    }
  }
}
