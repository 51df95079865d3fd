import { writeFileSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { checkTeamName, isTeamName } from "../../model/address.ts";
import { TielineError } from "../../model/errors.ts";
import { command } from "../args.ts";
import { present } from "../present.ts";

export default command({
  name: "init",
  group: "Project",
  summary: "write a commented tieline.yaml to start from",
  usage: ["init [directory]"],
  details: ["The team is named after the directory unless --team says otherwise. Never overwrites a file that is there."],
  args: [{ name: "directory", optional: true, complete: "directory", summary: "the project; this directory when left out" }],
  flags: {},
  examples: [["tieline init && $EDITOR tieline.yaml && tieline up", "from nothing to a running team"]],
  async run({ args, flags, terminal }) {
    const { projectTemplate } = await import("../../config/template.ts");
    const directory = resolve(args.directory ?? "");
    const path = join(directory, "tieline.yaml");
    create(path, projectTemplate(flags.team === undefined ? teamNamedAfter(directory) : checkTeamName(flags.team)));
    return present({ path }, `${terminal.paint("green", "✓")} wrote ${path}   ${terminal.paint("dim", "next: edit it, then `tieline up`")}`, { flags, terminal });
  },
});

function teamNamedAfter(directory: string): string {
  const name = basename(directory);
  return isTeamName(name) ? name : "default";
}

function create(path: string, text: string): void {
  try {
    writeFileSync(path, text, { flag: "wx" });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") {
      throw new TielineError("CONFLICT", `${path} is there already`, { remedy: "edit it; it is yours and never rewritten", operands: { path }, cause });
    }
    throw new TielineError("USAGE", `cannot write ${path}: ${(cause as Error).message}`, { remedy: "give a directory that exists and can be written", operands: { path }, cause });
  }
}
