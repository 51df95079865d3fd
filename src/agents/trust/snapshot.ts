/** The files of a project, each read once: what is judged is what is used. */
import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import type { ProfileFields } from "../../config/profileFields.ts";
import { parseProject, projectFileName, type Project } from "../../config/project.ts";
import { maxProjectBytes } from "../../config/projects.ts";
import { parseProfileFile } from "../profiles/profileFile.ts";
import { maxProfileBytes, projectProfilesDirectory } from "../profiles/profiles.ts";
import { namePattern } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { ModuleText } from "../../objects/channels/worker.ts";
import { exposureOf, type Exposure } from "../../os/exposure.ts";
import { readUntrusted, refusalError } from "../../os/untrustedFile.ts";

export interface Snapshot {
  /** Without links in it. */
  readonly root: string;
  /** With the profiles of its `.tieline/agents`, so that nothing is read again. */
  readonly project: Project;
  /** Every file that was read. */
  readonly files: readonly string[];
  /** SHA-256 of its tieline.yaml. */
  readonly fileDigest: string;
  /** The code of its objects, by the name of the object. */
  readonly modules: ReadonlyMap<string, ModuleText>;
  /** Why other users could have written one of these files; null: they could not. */
  readonly exposure: Exposure | null;
}

const maxModuleBytes = 16 * 1024 * 1024;
const maxProfileFiles = 1_000;

/** Projects by their directory, parsed again only when the text that was read is another one. */
export class ProjectSnapshots {
  private readonly parsed = new Map<string, { readonly texts: string; readonly project: Project }>();

  /** Throws FILE_REFUSED or CONFIG_INVALID for what cannot be read or understood. */
  read(directory: string): Snapshot {
    const root = realpathSync(directory);
    const file = join(root, projectFileName);
    const text = textOf(file, maxProjectBytes);
    if (text === null) throw missing(file);
    const project = this.parse(file, text, readProfiles(root));
    const modules = new Map(
      [...project.objects].flatMap(([name, { module }]) =>
        module === undefined ? [] : [[name, readModule(root, module)] as const],
      ),
    );
    const files = [
      file,
      ...profilePaths(project),
      ...[...modules.values()].filter((one) => one.text !== null).map(({ path }) => path),
    ];
    const directories = project.profileFiles?.size
      ? [projectProfilesDirectory(root), dirname(projectProfilesDirectory(root))]
      : [];
    return {
      root,
      project,
      files,
      fileDigest: sha256(text),
      modules,
      exposure: firstExposure([...files, ...directories]),
    };
  }

  private parse(file: string, text: string, profiles: ReadonlyMap<string, string>): Project {
    const texts = sha256(JSON.stringify([text, ...profiles]));
    const known = this.parsed.get(file);
    if (known?.texts === texts) return known.project;
    const directory = projectProfilesDirectory(dirname(file));
    const profileFiles = new Map(
      [...profiles].map(([name, profile]): [string, ProfileFields] => [
        name,
        parseProfileFile(join(directory, `${name}.md`), profile),
      ]),
    );
    const project = { ...parseProject(file, text), profileFiles };
    this.parsed.set(file, { texts, project });
    return project;
  }
}

function readProfiles(root: string): Map<string, string> {
  const directory = projectProfilesDirectory(root);
  for (const one of [dirname(directory), directory]) {
    const stats = lstatSync(one, { throwIfNoEntry: false });
    if (stats === undefined) return new Map();
    if (!stats.isDirectory()) throw noDirectory(one);
  }
  const names = readdirSync(directory)
    .filter((name) => name.endsWith(".md"))
    .map((name) => name.slice(0, -".md".length))
    .filter((name) => namePattern.test(name))
    .toSorted();
  if (names.length > maxProfileFiles) throw tooMany(directory, names.length);
  return new Map(
    names.flatMap((name) => {
      const file = join(directory, `${name}.md`);
      const text = textOf(file, maxProfileBytes);
      return text === null ? [] : [[name, text] as const];
    }),
  );
}

function profilePaths({ root, profileFiles = new Map() }: Project): string[] {
  return [...profileFiles.keys()].map((name) => join(projectProfilesDirectory(root), `${name}.md`));
}

/** The links on the way to it are resolved here, so that the path which is trusted is the one that is loaded. */
function readModule(root: string, module: string): ModuleText {
  const given = resolve(root, module);
  const directory = lstatSync(dirname(given), { throwIfNoEntry: false })
    ? realpathSync(dirname(given))
    : dirname(given);
  const path = join(directory, basename(given));
  return { path, text: textOf(path, maxModuleBytes) };
}

function textOf(file: string, maxBytes: number): string | null {
  const read = readUntrusted(file, { maxBytes });
  if (read.ok) return read.bytes.toString("utf8");
  if (read.why === "missing") return null;
  throw refusalError(file, read);
}

function firstExposure(files: readonly string[]): Exposure | null {
  for (const file of files) {
    const exposure = exposureOf(file);
    if (exposure !== null) return exposure;
  }
  return null;
}

export const sha256 = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("hex");

const missing = (file: string): TielineError =>
  new TielineError("CONFIG_INVALID", `${file} does not exist`, {
    remedy: "`tieline init` writes one",
    operands: { file, missing: projectFileName },
  });

const noDirectory = (path: string): TielineError =>
  new TielineError("FILE_REFUSED", `${path} is a link or a file, not a directory`, {
    remedy: "put the directory itself there",
    operands: { path, why: "notRegular" },
  });

const tooMany = (directory: string, count: number): TielineError =>
  new TielineError("CONFIG_INVALID", `${directory} has ${count} profiles; the limit is ${maxProfileFiles}`, {
    remedy: "remove some",
    operands: { directory, count },
  });
