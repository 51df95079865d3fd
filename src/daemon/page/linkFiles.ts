/** Files that lead a browser to a link, so that its code is in the arguments of no process. */
import { randomBytes } from "node:crypto";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const named = /^open-[0-9a-f]+\.html$/;

export class LinkFiles {
  readonly #report: (context: string, fault: unknown) => void;

  /** Removes what an earlier daemon left behind in its directory: those codes died with it. */
  constructor(directory: string, report: (context: string, fault: unknown) => void) {
    this.#report = report;
    for (const name of readdirSync(directory)) if (named.test(name)) this.remove(join(directory, name));
  }

  write(url: string, directory: string): string {
    const file = join(directory, `open-${randomBytes(8).toString("hex")}.html`);
    const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Tieline</title><meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0;url=${url}"><p><a href="${url}">Open the dashboard</a></p></html>\n`;
    writeFileSync(file, page, { mode: 0o600, flag: "wx" });
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
