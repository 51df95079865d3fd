/** Profiles as files that Tieline may write and remove: one Markdown file each, in a directory of its own. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { stringify } from "yaml";
import { checkAgentName } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { parseProfileFile } from "./profileFile.ts";

export interface NewProfile {
  readonly description?: string | undefined;
  readonly provider?: string | undefined;
  readonly profile?: string | undefined;
  readonly command?: string | undefined;
  readonly model?: string | undefined;
  readonly role?: string | undefined;
  readonly cwd?: string | undefined;
  readonly prompt?: string | undefined;
}

/** Settings between two lines `---`, the prompt below them. */
function formatProfileFile({ prompt, ...settings }: NewProfile): string {
  const given = Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined));
  const matter = Object.keys(given).length === 0 ? "" : stringify(given);
  return `---\n${matter}---\n${prompt === undefined ? "" : `\n${prompt.trim()}\n`}`;
}

/** Never over a file that is there already, and never one that could not be read back. */
export function writeProfileFile(directory: string, name: string, profile: NewProfile): string {
  const file = join(directory, `${checkAgentName(name)}.md`);
  const text = formatProfileFile(profile);
  parseProfileFile(file, text);
  mkdirSync(directory, { recursive: true });
  try {
    writeFileSync(file, text, { flag: "wx", flush: true });
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "EEXIST") throw exists(name, file);
    throw thrown;
  }
  return file;
}

/** The file that a profile has to itself; null for a profile in tieline.yaml or a built-in one. */
export function fileOf({ name, origin, source }: Profile): string | null {
  return origin !== "built in" && source.endsWith(`/${name}.md`) ? source : null;
}

export function removeProfileFile(profile: Profile): string {
  const file = fileOf(profile);
  if (file === null) throw notAFile(profile);
  rmSync(file);
  return file;
}

const exists = (name: string, file: string): TielineError =>
  new TielineError("CONFLICT", `${file} already exists`, {
    remedy: `change it with \`tieline profiles edit ${name}\`, or remove it first`,
    operands: { name, file },
  });

function notAFile({ name, origin, source }: Profile): TielineError {
  const remedy =
    origin === "built in"
      ? `a profile of your own named ${name} takes its place`
      : "take it out of that file, which Tieline never changes";
  return new TielineError(
    "CONFLICT",
    origin === "built in" ? `${name} is built in` : `${name} is defined in ${source}`,
    {
      remedy,
      operands: { name, source },
    },
  );
}
