import { z } from "zod";
import type { TielineError } from "../model/errors.ts";
import { nearest } from "../model/near.ts";
import { invalid, type Path, type Sourced } from "./text.ts";

/** Validates a file's content. The first problem is reported with its place, its key and what is expected. */
export function check<S extends z.ZodType>(schema: S, sourced: Sourced): z.output<S> {
  const result = schema.safeParse(sourced.value);
  if (result.success) return result.data;
  throw complaint(schema, sourced, result.error.issues[0]!);
}

type Issue = z.core.$ZodIssue;

function complaint(schema: z.ZodType, sourced: Sourced, issue: Issue): TielineError {
  if (issue.code === "unrecognized_keys") return unknownKey(schema, sourced, issue.path, issue.keys[0]!);
  if (issue.code === "invalid_key") {
    const key = String(issue.path.at(-1));
    const place = sourced.placeOf(issue.path.slice(0, -1), key);
    return invalid(
      place,
      `${dotted(issue.path)} has a key that must be ${wanted(issue.issues[0]!)}`,
      `rename "${key}"`,
    );
  }
  const value = valueAt(sourced.value, issue.path);
  const given = value === undefined ? "missing" : JSON.stringify(value);
  const key = dotted(issue.path) || "the file";
  const right = rangeAt(schema, issue) ?? wanted(issue);
  return invalid(sourced.placeOf(issue.path), `${key} is ${given}, but must be ${right}`, `set ${key} to ${right}`);
}

function unknownKey(schema: z.ZodType, sourced: Sourced, path: Path, key: string): TielineError {
  const keys = keysAt(schema, path);
  const near = nearest(key, keys);
  const full = dotted([...path, key]);
  const hint = near === null ? "" : `; the nearest is "${dotted([...path, near])}"`;
  return invalid(sourced.placeOf(path, key), `unknown key "${full}"${hint}`, `known here: ${keys.join(", ")}`);
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>(
    (inner, step) => (inner as Record<PropertyKey, unknown> | null | undefined)?.[step],
    value,
  );
}

const dotted = (path: Path): string => path.map(String).join(".");

/** What a value should have been, in words that end the sentence "it must be …". */
function wanted(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return kindWords[issue.expected] ?? issue.expected;
    case "invalid_value":
      return `one of ${issue.values.map(String).join(", ")}`;
    case "too_small":
      if (issue.origin === "string" && issue.minimum > 1) return `at least ${issue.minimum} characters long`;
      if (issue.origin === "string" || issue.origin === "array") return "not empty";
      return `${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return `at most ${issue.maximum}`;
    case "invalid_union":
      return unionWords(issue.errors);
    default:
      return issue.message;
  }
}

/** Of a union that failed deep inside one branch, that branch is what the author meant. */
function unionWords(branches: readonly (readonly Issue[])[]): string {
  const deep = branches.flat().find((issue) => issue.path.length > 0);
  if (deep) return `${wanted(deep)} at ${dotted(deep.path)}`;
  return [...new Set(branches.flat().map(wanted))].join(" or ");
}

const kindWords: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "a map",
  record: "a map",
};

/** A number outside its range gets both limits; null: it is another problem, or one end is open. */
function rangeAt(schema: z.ZodType, issue: Issue): string | null {
  if ((issue.code !== "too_small" && issue.code !== "too_big") || !["number", "int"].includes(issue.origin))
    return null;
  const here = schemaAt(schema, issue.path);
  if (!(here instanceof z.ZodNumber)) return null;
  const { minValue: least, maxValue: most } = here;
  if (least === null || most === null || least === -Infinity || most === Infinity || most === Number.MAX_SAFE_INTEGER)
    return null;
  const isOpen = here.safeParse(least).success === false;
  return isOpen ? `a number above ${least} and at most ${most}` : `a number between ${least} and ${most}`;
}

/** The keys that the schema knows in the map at a path. */
function keysAt(schema: z.ZodType, path: Path): string[] {
  const here = schemaAt(schema, path);
  return here instanceof z.ZodObject ? Object.keys(here.shape) : [];
}

function schemaAt(schema: z.ZodType, path: Path): z.ZodType | null {
  let here: z.ZodType = unwrapped(schema);
  for (const step of path) {
    if (here instanceof z.ZodObject) here = unwrapped(here.shape[String(step)] as z.ZodType);
    else if (here instanceof z.ZodRecord) here = unwrapped(here.valueType as z.ZodType);
    else return null;
  }
  return here;
}

const wrappers = [z.ZodOptional, z.ZodNullable, z.ZodDefault, z.ZodPrefault];

function unwrapped(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodPipe) {
    const preprocessed = schema.in instanceof z.ZodTransform;
    return unwrapped((preprocessed ? schema.out : schema.in) as z.ZodType);
  }
  const wrapped = wrappers.some((wrapper) => schema instanceof wrapper);
  return wrapped ? unwrapped((schema as z.ZodOptional<z.ZodType>).unwrap()) : schema;
}
