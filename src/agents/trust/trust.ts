/**
 * Which projects the user has trusted, and with what. Files of a project give power only while other users cannot
 * write them and the user has seen what they can start. What was trusted is kept in the home, by the real path of the
 * project.
 */
import { realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectFileName, type Project } from "../../config/project.ts";
import type { Documents } from "../directory/documents/port.ts";
import { projectProfilesDirectory, type Profiles } from "../profiles/profiles.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { systemClock, type Clock } from "../../model/ids.ts";
import type { Profile } from "../../model/profile.ts";
import type { TrustedProject } from "../../objects/objects.ts";
import { exposureOf, type Exposure } from "../../os/exposure.ts";
import { realPath } from "../../os/paths.ts";
import { shellWord } from "../../os/shell.ts";
import type { Providers } from "../../providers/providers.ts";
import { namedByAgent, namedByObject } from "./namedFiles.ts";
import { absolute, absoluteCommand, changedFiles, digestOf, powersOf, settingsIn, type Powers } from "./powers.ts";
import { writableInSandbox, type WritablePath } from "./runningSandboxes.ts";
import { ProjectSnapshots, type Snapshot } from "./snapshot.ts";
import { difference, linesOf, type ChangedLine } from "./powerLines.ts";

export interface TrustParts {
  readonly documents: Documents;
  readonly profiles: Profiles;
  /** Where the daemon looks for programs, and where those are that every agent finds first. */
  readonly path: string;
  readonly binDirectory: string;
  readonly providers: Pick<Providers, "of">;
  readonly projectOf: (team: string) => Project | null;
  readonly clock?: Clock;
  readonly writable?: typeof writableInSandbox;
}

/** What the user said yes to. */
export interface TrustRecord {
  readonly digest: string;
  readonly powers: Powers;
  readonly at: number;
}

/** `new`: never trusted. `changed`: trusted with other powers. `exposed`: other users could have written it. */
export type TrustState = "trusted" | "new" | "changed" | "exposed";

export interface Inspection {
  readonly snapshot: Snapshot;
  /** Every agent that its files declare. */
  readonly profiles: readonly Profile[];
  readonly powers: Powers;
  readonly digest: string;
  readonly state: TrustState;
  readonly record: TrustRecord | null;
}

/** What a sandbox has to know about the projects around it. */
export interface Decisive {
  /** Files that say what runs outside of sandboxes, or run there. */
  readonly decisive: readonly string[];
  /** Directories of such files, whether they are there or not. */
  readonly decisiveDirectories: readonly string[];
  /** Workspaces of the agents that are declared. */
  readonly workspaces: readonly string[];
}

const kind = "trust";

export class Trust {
  private readonly snapshots = new ProjectSnapshots();
  private readonly records: Map<string, TrustRecord>;

  constructor(private readonly parts: TrustParts) {
    this.records = new Map(parts.documents.all(kind).map(({ key, value }) => [key, value as TrustRecord]));
  }

  /** Reads the files of the project in this directory, each once. Throws FILE_REFUSED or CONFIG_INVALID. */
  inspect(directory: string): Inspection {
    const { profiles } = this.parts;
    const snapshot = this.snapshots.read(directory);
    const { project, root, exposure } = snapshot;
    const declared = new Set([...project.agents.keys(), ...(project.profileFiles?.keys() ?? [])]);
    const started = [...declared].map((name) => profiles.mustFind(project, name));
    const powers = powersOf(snapshot, { profiles: started, places: this.parts });
    const digest = digestOf(powers);
    const record = this.records.get(root) ?? null;
    const known = record === null ? "new" : record.digest === digest ? "trusted" : "changed";
    return { snapshot, profiles: started, powers, digest, record, state: exposure === null ? known : "exposed" };
  }

  /** The project as it is trusted now: only the bytes that were judged are used. Throws UNTRUSTED. */
  demand(directory: string): Snapshot {
    const inspection = this.inspect(directory);
    if (inspection.state === "trusted") return inspection.snapshot;
    throw untrusted(inspection);
  }

  /**
   * A profile as it may be started now; null: there is none. What a project's files have a say in is read again and
   * must be trusted (UNTRUSTED), and programs that they name are absolute paths.
   */
  profile(team: string, name: string, judged = new Map<string, Snapshot>()): Profile | null {
    const { profiles, projectOf } = this.parts;
    const seen = profiles.lookup(projectOf(team), name);
    if (seen?.origin === "user") checkOwnFile(seen);
    if (seen === null || seen.project === null) return seen;
    const snapshot = judged.get(seen.project) ?? this.demand(seen.project);
    judged.set(seen.project, snapshot);
    const profile = profiles.lookup(snapshot.project, name);
    return profile && absolute(profile, snapshot.root, this.parts);
  }

  /**
   * The same right before a start. UNTRUSTED while a running sandbox could rewrite what is started after it was
   * checked.
   */
  profileToStart(team: string, name: string): Profile | null {
    const { profiles, projectOf, writable = writableInSandbox } = this.parts;
    const seen = profiles.lookup(projectOf(team), name);
    const root = seen?.project ?? projectOf(team)?.root ?? seen?.cwd;
    if (seen !== null && root !== undefined && root !== null) {
      const { files, directories } = namedByAgent(seen, root, this.parts);
      const found = writable([...files, ...directories]);
      if (found !== null) throw writableInside(name, found);
    }
    return this.profile(team, name);
  }

  /** The same for several agents at one moment: the files of each project are read once for all of them. */
  profiles(): (team: string, name: string) => Profile | null {
    const judged = new Map<string, Snapshot>();
    return (team, name) => this.profile(team, name, judged);
  }

  profileIfTrusted(team: string, name: string): Profile | null {
    try {
      return this.profile(team, name);
    } catch (thrown) {
      if (asTielineError(thrown).code === "UNTRUSTED") return null;
      throw thrown;
    }
  }

  /** What the objects of the project in this directory may be made from now. Throws UNTRUSTED. */
  objectsOf(directory: string): TrustedProject {
    const { root, project, modules } = this.demand(directory);
    const search = { cwd: root, path: this.parts.path };
    const commands = [...project.objects].flatMap(([name, { command }]) =>
      command === undefined ? [] : [[name, absoluteCommand(command, search)] as const],
    );
    return { root, project, modules, commands: new Map(commands) };
  }

  /** Of the projects in these directories: what says what runs outside of sandboxes, and agents' workspaces. */
  around(directories: readonly string[]): Decisive {
    const projects = directories.map((directory) => this.decisiveIn(directory));
    return {
      decisive: projects.flatMap(({ decisive }) => decisive),
      decisiveDirectories: projects.flatMap(({ decisiveDirectories }) => decisiveDirectories),
      workspaces: projects.flatMap(({ workspaces }) => workspaces),
    };
  }

  private decisiveIn(directory: string): Decisive {
    const root = realPath(directory);
    const own = {
      decisive: [join(root, projectFileName)],
      decisiveDirectories: [dirname(projectProfilesDirectory(root))],
    };
    try {
      const { snapshot, profiles } = this.inspect(directory);
      const named = [
        ...profiles.map((profile) => namedByAgent(profile, root, this.parts)),
        ...[...snapshot.project.objects.values()].map(({ command = [] }) => namedByObject(command, root, this.parts)),
      ];
      const workspaces = profiles.flatMap(({ workspace }) => (workspace === null ? [] : [workspace]));
      return {
        decisive: [...new Set([...own.decisive, ...snapshot.files, ...named.flatMap(({ files }) => files)])],
        decisiveDirectories: [
          ...new Set([...own.decisiveDirectories, ...named.flatMap(({ directories }) => directories)]),
        ],
        workspaces,
      };
    } catch (thrown) {
      if (!(thrown instanceof TielineError) && !isMissing(thrown)) throw thrown;
      return { ...own, workspaces: [] };
    }
  }

  /** The user has seen the content of this digest and agrees. CONFLICT when the files have changed since. */
  grant(directory: string, digest: string): Inspection {
    const inspection = this.inspect(directory);
    if (inspection.state === "exposed") throw untrusted(inspection);
    if (inspection.digest !== digest) throw changedMeanwhile(inspection);
    return this.record(inspection);
  }

  /**
   * The user has added or changed one agent through Tieline itself: a project that was trusted stays so, if that agent
   * is all that is different.
   */
  extend(before: Inspection, agent: string): void {
    if (before.state !== "trusted") return;
    const after = this.inspect(before.snapshot.root);
    if (after.state === "changed" && digestOf(without(before.powers, agent)) === digestOf(without(after.powers, agent)))
      this.record(after);
  }

  private record({ powers, digest, ...inspection }: Inspection): Inspection {
    const record: TrustRecord = { digest, powers, at: (this.parts.clock ?? systemClock)() };
    this.parts.documents.put(kind, inspection.snapshot.root, record);
    this.records.set(inspection.snapshot.root, record);
    return { ...inspection, powers, digest, record, state: "trusted" };
  }
}

const isMissing = (thrown: unknown): boolean => (thrown as NodeJS.ErrnoException).code === "ENOENT";

/** A profile in the home, or what it is a link to. */
function checkOwnFile({ name, source }: Profile): void {
  const exposure = exposureOf(realpathSync(source)) ?? exposureOf(realpathSync(dirname(source)));
  if (exposure !== null) throw exposed(exposure, `so ${name} is not started`, { profile: name, file: source });
}

/** What is different from what was trusted; everything, where nothing was. */
export function changesIn({ powers, record }: Inspection): ChangedLine[] {
  return difference(record === null ? [] : linesOf(record.powers), linesOf(powers));
}

const without = ({ agents, objects }: Powers, name: string): Powers => ({
  agents: Object.fromEntries(Object.entries(agents).filter(([one]) => one !== name)),
  objects,
});

export function untrusted(inspection: Inspection): TielineError {
  const {
    snapshot: { root, exposure },
    state,
  } = inspection;
  const file = join(root, projectFileName);
  const changed = changedSince(inspection);
  const operands = { root, file, state, ...(changed.length > 0 && { changed }) };
  if (exposure !== null) return exposed(exposure, `so nothing is started from ${file}`, operands);
  const why = changeWords(inspection, changed);
  return new TielineError("UNTRUSTED", `${why}, so nothing is started from it`, {
    remedy:
      `\`tieline trust ${shellWord(root)}\` shows ${state === "new" ? "what it can start" : "the difference"} ` +
      "and asks",
    operands,
  });
}

const changedSince = ({ record, powers }: Inspection): string[] =>
  record === null ? [] : changedFiles(record.powers, powers);

/** Names the files if nothing else changed. */
function changeWords({ snapshot: { root }, state, record, powers }: Inspection, files: readonly string[]): string {
  const file = join(root, projectFileName);
  if (state === "new" || record === null) return `${file} is not trusted yet`;
  const [first, ...others] = files;
  if (first === undefined || digestOf(settingsIn(record.powers)) !== digestOf(settingsIn(powers)))
    return `what ${file} can start has changed since it was trusted`;
  const count = others.length;
  return `${first}${count === 0 ? "" : ` and ${count} more`} changed since ${file} was trusted`;
}

const writableInside = (name: string, { path, workspace }: WritablePath): TielineError =>
  new TielineError("UNTRUSTED", `a running sandboxed agent can write ${path}, so ${name} is not started`, {
    remedy: `\`tieline restart\` the sandboxed agent that works in ${shellWord(workspace)}`,
    operands: { agent: name, path, workspace },
  });

const changedMeanwhile = ({ snapshot: { root } }: Inspection): TielineError =>
  new TielineError("CONFLICT", `the files of ${root} changed while you were asked`, {
    remedy: `run \`tieline trust ${shellWord(root)}\` again`,
    operands: { root },
  });

const exposed = ({ path, why, remedy }: Exposure, so: string, operands: object): TielineError =>
  new TielineError("UNTRUSTED", `${why}, ${so}`, { remedy, operands: { ...operands, path } });
