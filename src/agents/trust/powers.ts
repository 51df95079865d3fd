/**
 * What the files of a project can make Tieline start, and what they let agents do: the part of them that has to be
 * trusted. Who may write to whom, prompts of agents that ask before they act, descriptions, roles and aliases are not
 * in it.
 */
import type { ObjectFields } from "../../config/project.ts";
import type { Profile } from "../../model/profile.ts";
import { programPath, type Search } from "../../os/programPath.ts";
import type { Providers } from "../../providers/providers.ts";
import { contentOf, namedByAgent, namedByObject, reachOf, type Named } from "./namedFiles.ts";
import { sha256, type Snapshot } from "./snapshot.ts";

export type Value = string | number | boolean | null | readonly Value[] | { readonly [key: string]: Value };

/** By name, and there by setting. */
export interface Powers {
  readonly agents: Readonly<Record<string, Readonly<Record<string, Value>>>>;
  readonly objects: Readonly<Record<string, Readonly<Record<string, Value>>>>;
}

export interface PowerParts {
  /** Every agent that the project's files declare, as it would be started. */
  readonly profiles: readonly Profile[];
  readonly places: ProgramPlaces;
}

/** Where programs are looked for: as in PATH, and for agents in one directory before that. */
export interface ProgramPlaces {
  readonly path: string;
  readonly binDirectory: string;
  readonly providers: Pick<Providers, "of">;
}

type Find = typeof programPath;

/** Looks for each program once, however many agents run it. */
function findingOnce(): Find {
  const found = new Map<string, string | null>();
  return (program, { path, cwd }) => {
    const key = JSON.stringify([program, path, program.includes("/") ? cwd : ""]);
    const known = found.get(key);
    if (known !== undefined) return known;
    const file = programPath(program, { path, cwd });
    found.set(key, file);
    return file;
  };
}

export function powersOf(snapshot: Snapshot, { profiles, places }: PowerParts): Powers {
  const { root, project, modules } = snapshot;
  const find = findingOnce();
  const workspaces = reachOf(profiles);
  const files = (named: () => Named): Record<string, Value> => {
    const content = workspaces.length === 0 ? {} : contentOf(named(), workspaces);
    return Object.keys(content).length > 0 ? { files: content } : {};
  };
  return {
    agents: Object.fromEntries(
      profiles.map((profile) => [
        profile.name,
        {
          ...agentPowers(absolute(profile, root, places, find), places.providers),
          ...files(() => namedByAgent(profile, root, places)),
        },
      ]),
    ),
    objects: Object.fromEntries(
      [...project.objects].map(([name, fields]) => [
        name,
        {
          ...objectPowers(fields, modules.get(name), { cwd: root, path: places.path }, find),
          ...files(() => namedByObject(fields.command ?? [], root, places)),
        },
      ]),
    ),
  };
}

/** Paths of files that are named and are different in the two, or in one of them only. */
export function changedFiles(before: Powers, after: Powers): string[] {
  const [old, now] = [filesIn(before), filesIn(after)];
  return [...new Set([...old.keys(), ...now.keys()])].filter((path) => old.get(path) !== now.get(path)).toSorted();
}

const filesIn = ({ agents, objects }: Powers): Map<string, Value> =>
  new Map([...Object.values(agents), ...Object.values(objects)].flatMap(({ files = {} }) => Object.entries(files!)));

/** The same without the content of files. */
export function settingsIn({ agents, objects }: Powers): Powers {
  const settings = (group: Powers["agents"]): Powers["agents"] =>
    Object.fromEntries(
      Object.entries(group).map(([name, one]) => [
        name,
        Object.fromEntries(Object.entries(one).filter(([setting]) => setting !== "files")),
      ]),
    );
  return { agents: settings(agents), objects: settings(objects) };
}

/**
 * With the programs that its project names as absolute paths: what is found later, or elsewhere, is another program.
 */
export function absolute(
  profile: Profile,
  root: string,
  { path, binDirectory }: Pick<ProgramPlaces, "path" | "binDirectory">,
  find: Find = programPath,
): Profile {
  const search = { cwd: profile.cwd ?? root, path: `${binDirectory}:${profile.env["PATH"] ?? path}` };
  return {
    ...profile,
    command: profile.command && absoluteCommand(profile.command, search, find),
    sandboxCommand: profile.sandboxCommand && absoluteCommand(profile.sandboxCommand, search, find),
  };
}

/** A program that is not found keeps its name. */
export function absoluteCommand(
  [program = "", ...args]: readonly string[],
  search: Search,
  find: Find = programPath,
): readonly string[] {
  return [find(program, search) ?? program, ...args];
}

function agentPowers(profile: Profile, providers: Pick<Providers, "of">): Record<string, Value> {
  const {
    provider,
    command,
    args,
    headless,
    cwd,
    env,
    workspace,
    sandbox,
    sandboxCommand,
    network,
    hostPorts,
    readable,
    permissions,
    may,
    logs,
    prompt,
    promptOrigin,
    skill,
    autostart,
  } = profile;
  const free = asks(profile, providers);
  return {
    provider,
    ...(free && { asks: true }),
    ...(command !== null && { command }),
    ...(args.length > 0 && { args }),
    ...(headless && { headless }),
    ...(cwd !== null && { cwd }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(workspace !== null && { workspace }),
    ...(sandbox !== "none" && { sandbox }),
    ...(sandbox === "bwrap" && { network }),
    ...(hostPorts.length > 0 && { hostPorts }),
    ...(sandboxCommand !== null && { sandboxCommand }),
    ...(readable.length > 0 && { readable }),
    ...(permissions !== "ask" && { permissions }),
    ...(may.length > 0 && { may }),
    ...(logs.length > 0 && { logs }),
    ...(prompt !== null && promptOrigin === "project" && !free && { prompt }),
    ...(skill !== null && !free && { skill }),
    ...(!autostart && { autostart }),
  };
}

/** Only of a program that runs as its maker ships it can this be known. */
function asks({ permissions, command, args, env, provider }: Profile, providers: Pick<Providers, "of">): boolean {
  const { program, neverAsks = false } = providers.of(provider);
  return (
    permissions === "ask" &&
    command === null &&
    args.length === 0 &&
    Object.keys(env).length === 0 &&
    program !== null &&
    !neverAsks
  );
}

function objectPowers(
  { command, options }: ObjectFields,
  module: { path: string; text: string | null } | undefined,
  search: Search,
  find: Find,
): Record<string, Value> {
  return {
    ...(command !== undefined && { command: absoluteCommand(command, search, find) }),
    ...(module !== undefined && {
      module: module.path,
      code: module.text === null ? null : `sha256 ${sha256(module.text)}`,
    }),
    ...(Object.keys(options).length > 0 && { options: options as Value }),
  };
}

/** The same for the same powers, in whatever order they were written. */
export function digestOf(powers: Powers): string {
  return sha256(JSON.stringify(ordered(powers as unknown as Value)));
}

function ordered(value: Value): Value {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, ordered(inner as Value)]),
  );
}
