/** Requests made from the API's own description: mostly what it asks for, here and there something else. */
import fc from "fast-check";
import { openapi } from "../daemon/openapi.ts";
import { methods, pathOf } from "../api/wire.ts";
import { definitions } from "../api/operations/index.ts";
import type { OperationName } from "../api/schema.ts";
import { tools } from "../mcp/tools.ts";
import { z } from "zod";
import { errorCodes } from "../model/errors.ts";
import type { TestDaemon } from "./daemon.ts";

type Json = Record<string, unknown>;

export interface FuzzedRequest {
  readonly name: OperationName;
  readonly input: unknown;
  /** Reports stay readable, whatever was tried. */
  [fc.toStringMethod](): string;
}

/** Would end what is being tested. */
const fatal: readonly OperationName[] = ["daemonStop"];
const names = (Object.keys(methods) as OperationName[]).filter((name) => !fatal.includes(name));
const description = JSON.parse(JSON.stringify(openapi("0.0.0"))) as { components: { schemas: Record<string, Json> } };

/** Words that mean something here, so that requests get further than the first check. */
const meaningful = [
  "ana",
  "user",
  "@all",
  "*",
  "default",
  "default:ana",
  "%1",
  "metrics",
  "MSG_USER_00000000",
  "ana -> ben",
  "../../etc/passwd",
  "-x",
  "",
];

const text = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...meaningful) },
  { weight: 2, arbitrary: fc.string({ maxLength: 40, unit: "binary" }) },
  fc.constantFrom("x".repeat(100_000), "\u0000", "\ud800", "💥".repeat(500)),
);

const deep = fc.constantFrom(50, 5_000).map((levels) => {
  let value: unknown = 0;
  for (let level = 0; level < levels; level++) value = level % 2 ? [value] : { value };
  return value;
});

const junk: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue(),
  deep,
  text,
  fc.constantFrom(null, -1, 1e308, 0.5, [], {}, true, "9".repeat(400)),
  fc.constant(JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{}}}') as unknown),
);

function valueFor(schema: Json): fc.Arbitrary<unknown> {
  if (typeof schema["$ref"] === "string")
    return valueFor(description.components.schemas[schema["$ref"].split("/").at(-1)!]!);
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as Json[] | undefined;
  if (choices) return fc.oneof(...choices.map(valueFor));
  if (Array.isArray(schema["enum"])) return fc.constantFrom(...(schema["enum"] as unknown[]));
  if ("const" in schema) return fc.constant(schema["const"]);
  switch (schema["type"]) {
    case "object":
      return objectFor(schema);
    case "array":
      return fc.array(valueFor((schema["items"] ?? {}) as Json), { maxLength: 4 });
    case "string":
      return text;
    // Small, because some numbers are how long to wait.
    case "integer":
      return fc.integer({ min: 0, max: 20 });
    case "number":
      return fc.integer({ min: 0, max: 1 });
    case "boolean":
      return fc.boolean();
    case "null":
      return fc.constant(null);
    default:
      return fc.jsonValue();
  }
}

function objectFor({ properties = {}, required = [] }: Json): fc.Arbitrary<Json> {
  const given = Object.entries(properties as Record<string, Json>).map(([key, schema]) => {
    const always = (required as string[]).includes(key);
    const value = fc.oneof(
      { weight: 12, arbitrary: valueFor(schema).map((one) => [key, one] as const) },
      {
        weight: 1,
        arbitrary: waits(key) ? fc.constant([key, "soon"] as const) : junk.map((one) => [key, one] as const),
      },
    );
    return fc.oneof(
      { weight: always ? 20 : 2, arbitrary: value },
      { weight: always ? 1 : 4, arbitrary: fc.constant(null) },
    );
  });
  return fc.tuple(...given).map((pairs) => Object.fromEntries(pairs.filter((pair) => pair !== null)) as Json);
}

/** Nonsense for these must not be a number, or the answer would come when the test is over. */
const waits = (key: string): boolean => /(Ms|_seconds)$/.test(key);

const inputSchema = (name: OperationName): Json =>
  z.toJSONSchema(definitions[name].input, { io: "output", unrepresentable: "any" }) as Json;

export const requests: fc.Arbitrary<FuzzedRequest> = fc.oneof(
  ...names.map((name) =>
    fc
      .oneof(
        { weight: 8, arbitrary: valueFor(inputSchema(name)) },
        { weight: 1, arbitrary: waitsIn(name) ? fc.constant("junk") : junk },
      )
      .map((input) => ({ name, input, ...brief(`${name} ${JSON.stringify(input)}`) })),
  ),
);

const brief = (text: string): { [fc.toStringMethod](): string } => ({ [fc.toStringMethod]: () => text.slice(0, 300) });

function waitsIn(name: OperationName): boolean {
  return Object.keys((inputSchema(name)["properties"] ?? {}) as object).some(waits);
}

export const toolCalls: fc.Arbitrary<{ name: string; arguments: unknown }> = fc
  .oneof(
    ...tools.map(({ name, input }) =>
      valueFor(z.toJSONSchema(input) as Json).map((given) => ({ name, arguments: given })),
    ),
    fc.record({ name: fc.string(), arguments: junk }),
  )
  .map((call) => ({ ...call, ...brief(JSON.stringify(call)) }));

/** What is wrong with an answer; null: nothing. An INTERNAL error is a crash that was caught. */
export async function faultIn({ name }: FuzzedRequest, response: Response): Promise<string | null> {
  const body: unknown = await response.json().catch(() => undefined);
  if (response.ok) {
    const { success, error } = definitions[name].output.safeParse(body);
    return success ? null : `the answer does not fit its schema: ${error.message}`;
  }
  if (response.headers.get("content-type") !== "application/problem+json")
    return `status ${response.status} without a problem`;
  const { code, remedy, status } = body as { code?: string; remedy?: string; status?: number };
  if (code === undefined || !(code in errorCodes) || !remedy || status !== response.status)
    return `the problem is not one of ours: ${JSON.stringify(body)}`;
  return code === "INTERNAL" ? `it crashed: ${JSON.stringify(body).slice(0, 500)}` : null;
}

export function ask({ name, input }: FuzzedRequest, daemon: TestDaemon, token: string): Promise<Response> {
  const headers = { authorization: `Bearer ${token}` };
  const signal = AbortSignal.timeout(30_000);
  if (methods[name] === "POST")
    return fetch(`${daemon.url}${pathOf(name)}`, { method: "POST", headers, body: JSON.stringify(input), signal });
  const pairs = typeof input === "object" && input !== null ? Object.entries(input) : [["input", input] as const];
  const query = new URLSearchParams(
    pairs.map(([key, value]) => [
      key,
      (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).slice(0, 4_000).toWellFormed(),
    ]),
  );
  return fetch(`${daemon.url}${pathOf(name)}?${query}`, { headers, signal });
}
