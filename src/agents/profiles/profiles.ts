import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { parseProfileFile } from "./profileFile.ts";
import { builtinProfiles } from "./builtin.ts";
import { type ProfileFields, toProfile } from "../../config/profileFields.ts";
import type { Project } from "../../config/project.ts";
import { versionOf } from "../../config/projects.ts";
import { maxNameLength, namePattern } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import type { Profile, ProfileOrigin } from "../../model/profile.ts";
import { readUntrusted, refusalError } from "../../os/untrustedFile.ts";

/** One place where a profile of a name is written. */
interface Entry {
  readonly origin: ProfileOrigin;
  readonly source: string;
  readonly root: string;
  readonly fields: ProfileFields;
}

export const maxProfileBytes = 1024 * 1024;
/** How many profiles may build on each other. */
const maxProfileChain = 10;

export const projectProfilesDirectory = (root: string): string => join(root, ".tieline", "agents");

/**
 * Who could exist: profiles of the project (tieline.yaml, then .tieline/agents), of the user, and built in. The
 * first that has the name wins. Files are read when they are asked for, and again only when they have changed.
 */
export class Profiles {
  readonly #files = new Map<string, { readonly version: string; readonly fields: ProfileFields }>();
  readonly #userDirectory: string;

  constructor(userDirectory: string) {
    this.#userDirectory = userDirectory;
  }

  lookup(project: Project | null, name: string): Profile | null {
    return this.#build(project, name, []);
  }

  /** As `lookup`, or throws ADDRESS_UNKNOWN with near names. */
  mustFind(project: Project | null, name: string): Profile {
    const found = this.lookup(project, name);
    if (found) return found;
    const near = nearNames(name, this.names(project));
    throw new TielineError("ADDRESS_UNKNOWN", `there is no profile "${name}"${didYouMean(near)}`, {
      remedy: "`tieline profiles ls` lists the profiles",
      operands: { profile: name, near },
    });
  }

  /** Every name that lookup would find, in the order of the places. */
  names(project: Project | null): string[] {
    return [
      ...new Set([
        ...(project?.agents.keys() ?? []),
        ...(project ? (project.profileFiles?.keys() ?? namesIn(projectProfilesDirectory(project.root))) : []),
        ...namesIn(this.#userDirectory),
        ...builtinProfiles.keys(),
      ]),
    ];
  }

  /** Where files of one's own go. */
  directoryFor(project: Project | null): string {
    return project ? projectProfilesDirectory(project.root) : this.#userDirectory;
  }

  list(project: Project | null): Profile[] {
    return this.names(project).map((name) => this.lookup(project, name)!);
  }

  /** `above` are the entries that build on this one; none of them can be its own base. */
  #build(project: Project | null, name: string, above: readonly string[]): Profile | null {
    for (const entry of this.#entries(project, name)) {
      const self = `${entry.source}#${name}`;
      if (above.includes(self)) continue;
      if (above.length >= maxProfileChain) throw chainTooLong(entry.source, name);
      const base = this.#base(project, name, entry, [...above, self]);
      return toProfile(entry.fields, { name, ...entry }, base);
    }
    return null;
  }

  /**
   * The profile whose settings hold where this one says nothing: the one it names or, since `engineer:` in
   * tieline.yaml means to refine the engineer, the next of its own name. A command of its own refines nothing.
   */
  #base(project: Project | null, name: string, { fields, source }: Entry, above: readonly string[]): Profile | null {
    if (fields.profile === undefined) return fields.command ? null : this.#build(project, name, above);
    const base = this.#build(project, fields.profile, above);
    if (base) return base;
    throw new TielineError(
      "CONFIG_INVALID",
      `${source}: ${name} builds on the profile ${fields.profile}, which does not exist`,
      {
        remedy: "`tieline profiles ls` lists the profiles",
        operands: { profile: fields.profile, source },
      },
    );
  }

  *#entries(project: Project | null, name: string): Iterable<Entry> {
    // It becomes the name of a file.
    if (!namePattern.test(name) || name.length > maxNameLength) return;
    const declared = project?.agents.get(name);
    if (project && declared) yield { origin: "project", source: project.file, root: project.root, fields: declared };
    if (project) yield* this.#projectFile(project, name);
    yield* this.#file("user", join(this.#userDirectory, `${name}.md`), this.#userDirectory);
    yield* this.#builtin(name);
  }

  *#projectFile({ root, profileFiles }: Project, name: string): Iterable<Entry> {
    const source = join(projectProfilesDirectory(root), `${name}.md`);
    const fields = profileFiles?.get(name);
    if (profileFiles === undefined) yield* this.#file("project", source, root);
    else if (fields) yield { origin: "project", source, root, fields };
  }

  /** A file in the home may be a link to where the user keeps it; what is in a project must be there itself. */
  *#file(origin: ProfileOrigin, source: string, root: string): Iterable<Entry> {
    // Asked for every address, and most have no file.
    const seen = statSync(source, { throwIfNoEntry: false });
    if (seen === undefined) return;
    const fields = this.#parsed(source, versionOf(seen), () => {
      const read = readUntrusted(source, { maxBytes: maxProfileBytes, link: origin === "user" ? "resolve" : "refuse" });
      if (!read.ok) throw refusalError(source, read);
      return read.bytes.toString("utf8");
    });
    yield { origin, source, root, fields };
  }

  *#builtin(name: string): Iterable<Entry> {
    const text = builtinProfiles.get(name);
    if (text === undefined) return;
    const source = `built in: ${name}`;
    yield { origin: "built in", source, root: this.#userDirectory, fields: this.#parsed(source, "", () => text) };
  }

  #parsed(source: string, version: string, read: () => string): ProfileFields {
    const known = this.#files.get(source);
    if (known?.version === version) return known.fields;
    const fields = parseProfileFile(source, read());
    this.#files.set(source, { version, fields });
    return fields;
  }
}

function chainTooLong(source: string, name: string): TielineError {
  return new TielineError(
    "CONFIG_INVALID",
    `${source}: more than ${maxProfileChain} profiles build on each other, down to ${name}`,
    {
      remedy: "shorten the chain of `profile:` settings",
      operands: { profile: name, source, limit: maxProfileChain },
    },
  );
}

function namesIn(directory: string): string[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return [];
  const files = readdirSync(directory).filter((file) => file.endsWith(".md"));
  return files
    .map((file) => file.slice(0, -".md".length))
    .filter((name) => namePattern.test(name))
    .toSorted();
}
