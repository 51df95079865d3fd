import { basename, dirname } from "node:path";
import { z } from "zod";
import { cleanTeamName, isTeamName, parseAddress } from "../model/address.ts";
import { isReservedName, systemObjects } from "../model/agent.ts";
import { asTielineError } from "../model/errors.ts";
import type { Place } from "../model/place.ts";
import { builtinOptions } from "../objects/builtin/options.ts";
import { type Edge, parseEdge, uniqueEdges } from "../routing/topology/edge.ts";
import { check } from "./check.ts";
import { command, name, ProfileFields } from "./profileFields.ts";
import { invalid, parseYaml, type Sourced } from "./text.ts";

export const projectFileName = "tieline.yaml";
export const defaultTeam = "default";

const agentName = name.refine((text) => !isReservedName(text), "a name that is not reserved");
const objectName = name.refine((text) => isSystemObject(text) || !isReservedName(text), "a name that is not reserved");

/** An object is a handler with its own settings; the system objects bring their handlers along. */
export const ObjectFields = z.strictObject({
  module: z.string().min(1).optional().describe("A TypeScript or JavaScript file that exports the handler."),
  command: command.optional().describe("A program that speaks JSON lines: text for the shell, or a list of arguments."),
  options: z.record(z.string(), z.unknown()).default({}).describe("Settings, passed to the handler unchanged."),
  timeoutMs: z
    .int()
    .min(1)
    .max(3_600_000)
    .default(10_000)
    .describe("Timeout for the handler's start and for each message, in milliseconds. After that it is restarted."),
});
export type ObjectFields = z.output<typeof ObjectFields>;

export const ProjectFile = z.strictObject({
  team: z
    .string()
    .refine(isTeamName, "a team name: letters, digits, _ - . or /")
    .optional()
    .describe("The team of all agents in this directory or below. Without it, the team is named after the directory."),
  agents: sparse(agentName, ProfileFields).describe("The agents of this project: a name, and its profile."),
  objects: sparse(objectName, ObjectFields).describe(
    "Participants without a model, each with a handler; `metrics`, `tick` and `gateway` are built in.",
  ),
  topology: z
    .array(z.string())
    .nullable()
    .default(null)
    .describe(
      "Which agents may write to which: `a -> b`, `a <-> b`, `a -> *`, `a -> team:b`. Without it all may " +
        "write to each other.",
    ),
  aliases: z.record(agentName, z.array(z.string()).min(1)).default({}).describe("`@name` for a list of addresses."),
});

/** A map whose values may be left empty. */
function sparse<Value extends z.ZodType>(key: typeof name, value: Value) {
  return z
    .record(
      key,
      z.preprocess((given) => given ?? {}, value),
    )
    .default({});
}

/** One project: the directory of a tieline.yaml and what that file says. */
export interface Project {
  readonly root: string;
  readonly file: string;
  readonly team: string;
  /** false: the file has no `team:`, so that the name may be changed where another project has it. */
  readonly isTeamStated: boolean;
  readonly agents: ReadonlyMap<string, ProfileFields>;
  readonly objects: ReadonlyMap<string, ObjectFields>;
  /** null: no topology, everyone may write to everyone. */
  readonly edges: readonly Edge[] | null;
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  /** Agents and objects: as ends of edges these are names, never roles. */
  readonly declared: ReadonlySet<string>;
  /**
   * The profiles of its `.tieline/agents`, where they were read together with it. Left out: they are read when asked
   * for.
   */
  readonly profileFiles?: ReadonlyMap<string, ProfileFields>;
}

/**
 * What a project is called where its file does not say: never `default`, which every directory without a project
 * shares.
 */
export function teamNamedAfter(root: string): string {
  const name = cleanTeamName(basename(root));
  if (name !== null && name !== defaultTeam) return name;
  return `project-${new Bun.CryptoHasher("sha256").update(root).digest("hex").slice(0, 6)}`;
}

/** `knownAs`: the name of its team, where that is not the one in the file. */
export function parseProject(file: string, text: string, knownAs?: string): Project {
  const sourced = parseYaml(file, text);
  checkCounts(sourced);
  const { team: stated, agents, objects, topology, aliases } = check(ProjectFile, sourced);
  checkObjects(sourced, agents, objects);
  checkAliases(sourced, aliases);
  const root = dirname(file);
  const team = knownAs ?? stated ?? teamNamedAfter(root);
  return {
    root,
    file,
    team,
    isTeamStated: stated !== undefined,
    agents: new Map(Object.entries(agents)),
    objects: new Map(Object.entries(objects)),
    edges: topology && readEdges(sourced, topology, team),
    aliases: new Map(Object.entries(aliases)),
    declared: new Set([...Object.keys(agents), ...Object.keys(objects)]),
  };
}

/** Larger than any team that people write down. What is done for each name or edge stays quick. */
const projectLimits = { agents: 1_000, objects: 1_000, aliases: 1_000, topology: 10_000 } as const;

/** Before anything looks at each of them. */
function checkCounts(sourced: Sourced): void {
  for (const [key, limit] of Object.entries(projectLimits)) {
    const value = (sourced.value as Record<string, unknown>)[key];
    const count = typeof value === "object" && value !== null ? Object.keys(value).length : 0;
    if (count > limit)
      throw invalid(
        sourced.placeOf([], key),
        `${key} has ${count} entries; the limit is ${limit}`,
        `keep at most ${limit} entries under ${key}:`,
      );
  }
}

function readEdges(sourced: Sourced, topology: readonly string[], team: string): Edge[] {
  return uniqueEdges(topology.flatMap((text, index) => parseEdge(text, team, insideQuotes(sourced, index, text))));
}

/** Where the text itself begins, so that columns inside it are right. */
function insideQuotes(sourced: Sourced, index: number, text: string): Place {
  const place = sourced.placeOf(["topology", index]);
  return sourced.line(place).startsWith(text, place.column - 1) ? place : { ...place, column: place.column + 1 };
}

function checkObjects(sourced: Sourced, agents: object, objects: Readonly<Record<string, ObjectFields>>): void {
  for (const [object, { module, command: program }] of Object.entries(objects)) {
    const place = sourced.placeOf(["objects"], object);
    if (object in agents)
      throw invalid(place, `${object} is both an agent and an object`, "give one of them another name");
    if (isSystemObject(object)) {
      if (module === undefined && program === undefined) check(optionsOf(object), sourced);
      continue;
    }
    if ((module === undefined) === (program === undefined)) {
      throw invalid(place, `objects.${object} needs either a module or a command`, "set exactly one of them");
    }
  }
}

/** The place of a system object's options in the file; everything else there is checked already. */
function optionsOf(object: string): z.ZodType {
  const fields = z.looseObject({ options: builtinOptions[object]!.prefault({}) });
  return z.looseObject({ objects: z.looseObject({ [object]: z.preprocess((given) => given ?? {}, fields) }) });
}

function checkAliases(sourced: Sourced, aliases: Readonly<Record<string, readonly string[]>>): void {
  for (const [alias, members] of Object.entries(aliases)) {
    members.forEach((member, index) => {
      if (!isSingle(member)) {
        const place = sourced.placeOf(["aliases", alias, index]);
        const problem = `aliases.${alias} contains ${JSON.stringify(member)}, but must list names`;
        throw invalid(place, problem, "write names, or team:name");
      }
    });
  }
}

function isSingle(text: string): boolean {
  try {
    const { kind } = parseAddress(text);
    return kind === "name" || kind === "pane";
  } catch (error) {
    if (asTielineError(error).code === "ADDRESS_UNKNOWN") return false;
    throw error;
  }
}

const isSystemObject = (text: string): boolean => (systemObjects as readonly string[]).includes(text);
