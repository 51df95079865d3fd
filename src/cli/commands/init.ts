import { writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { checkTeamName } from "../../model/address.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import type { Client } from "../../client/client.ts";
import { command } from "../input/args.ts";
import { present } from "../output/present.ts";

export default command({
  name: "init",
  group: "Project",
  summary: "Write a commented tieline.yaml to start from.",
  usage: ["init [directory]"],
  details: [
    "The team is named after the directory, or by --team, with a number if another project has that " +
      "name. It never overwrites a file. What it writes is trusted (see `tieline help trust`).",
  ],
  args: [{ name: "directory", optional: true, complete: "directory", summary: "the project; default: this directory" }],
  flags: {},
  examples: [["tieline init && $EDITOR tieline.yaml && tieline up", "from nothing to a running team"]],
  async run({ args, flags, daemon, terminal }) {
    const { projectTemplate } = await import("../../config/template.ts");
    const { teamNamedAfter } = await import("../../config/project.ts");
    const directory = resolve(args.directory ?? "");
    const path = join(directory, "tieline.yaml");
    const text = projectTemplate(
      flags.team === undefined
        ? await freeName(teamNamedAfter(directory), directory, daemon)
        : checkTeamName(flags.team),
    );
    create(path, text);
    const untrusted = await trustWritten(directory, text, daemon);
    if (untrusted !== null) await terminal.complain(`note: ${path} is not trusted yet: ${untrusted}`);
    return present(
      { path, trusted: untrusted === null },
      `${terminal.paint("green", "✓")} wrote ${path}   ${terminal.paint("dim", "next: edit it, then `tieline up`")}`,
      { flags, terminal },
    );
  },
});

/**
 * Trusts the file that was written, and nothing else: the directory may have profiles already. Answers why it did not.
 */
async function trustWritten(directory: string, text: string, daemon: Client): Promise<string | null> {
  try {
    const { files, fileDigest, digest, state, problem } = await daemon.call("trustShow", { directory });
    if (state === "exposed") return problem;
    const isOnlyOurs = files.length === 1 && fileDigest === new Bun.CryptoHasher("sha256").update(text).digest("hex");
    if (!isOnlyOurs) return "`tieline trust` shows what else is in the project, and asks";
    await daemon.call("trust", { directory, digest });
    return null;
  } catch (thrown) {
    return asTielineError(thrown).message;
  }
}

/**
 * `app`, `app-2`, …: a name that no other project has. Without a daemon the first is used; a conflict is reported
 * later.
 */
async function freeName(wanted: string, directory: string, daemon: Client): Promise<string> {
  const teams = await daemon.call("teams", {}).catch(() => []);
  const taken = new Set(teams.flatMap(({ name, root }) => (root === null || root === directory ? [] : [name])));
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}-${number}`;
  return name;
}

function create(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") {
      throw new TielineError("CONFLICT", `${path} already exists`, {
        remedy: "edit it; it is yours and never rewritten",
        operands: { path },
        cause,
      });
    }
    throw new TielineError("USAGE", `cannot write ${path}: ${(cause as Error).message}`, {
      remedy: "give a directory that exists and can be written",
      operands: { path },
      cause,
    });
  }
}
