/** The API as OpenAPI 3.1, made from the schemas that requests are validated with. */
import { z } from "zod";
import { definitions, type Definitions } from "../api/operations/index.ts";
import { methods, pathOf } from "../api/wire.ts";
import * as wire from "../api/schema.ts";
import type { OperationName } from "../api/schema.ts";
import { errorCodes } from "../model/errors.ts";

type Json = Record<string, unknown>;
type Ids = ReadonlyMap<z.ZodType, string>;

/** Schemas that several operations share, under the names of their views. */
const views = {
  Receipt: wire.ReceiptView,
  History: wire.HistoryView,
  Delivery: wire.DeliveryView,
  Step: wire.StepView,
  Message: wire.MessageView,
  Letter: wire.InboxView,
  Agent: wire.AgentView,
  Check: wire.Check,
};

export function openapi(version: string, operations: Definitions = definitions): Json {
  const names = Object.keys(methods) as OperationName[];
  const ids = idsOf(names, operations);
  return {
    openapi: "3.1.0",
    info: {
      title: "Tieline",
      version,
      summary: "The message switch for AI coding agents.",
      description:
        "On the unix socket daemon.sock in the home, and on the loopback port that its file port names. " +
        "There, every request carries a token of the user or of an agent.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [
      {
        url: "http://127.0.0.1:{port}",
        variables: { port: { default: "0", description: "the file port in the home" } },
      },
    ],
    security: [{ token: [] }],
    paths: Object.fromEntries(
      names.map((name) => [pathOf(name), { [methods[name].toLowerCase()]: operation(name, ids, operations) }]),
    ),
    components: {
      securitySchemes: {
        token: {
          type: "http",
          scheme: "bearer",
          description: "An agent's TIELINE_TOKEN, or the content of user.token in the home.",
        },
      },
      responses: {
        Problem: {
          description: "Why it was refused, and what to do about it.",
          content: { "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } } },
        },
      },
      schemas: { Problem: problemSchema, ...componentSchemas(ids) },
    },
  };
}

function operation(name: OperationName, ids: Ids, operations: Definitions): Json {
  const { summary, input, output } = operations[name];
  return {
    operationId: name,
    summary,
    ...(methods[name] === "GET"
      ? { parameters: parametersOf(input) }
      : { requestBody: { required: true, content: { "application/json": { schema: refTo(ids.get(input)!) } } } }),
    responses: {
      "200": {
        description: "Done.",
        content: {
          "application/json": { schema: refTo(ids.get(output)!) },
          ...(name === "events" && { "text/event-stream": { schema: { type: "string" } } }),
        },
      },
      default: { $ref: "#/components/responses/Problem" },
    },
  };
}

function parametersOf(input: z.ZodType): Json[] {
  const { properties = {}, required = [] } = jsonSchema(input) as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => ({
    name,
    in: "query",
    required: required.includes(name),
    ...(description !== undefined && { description }),
    ...(schema["type"] === "array" && { style: "form", explode: false }),
    schema,
  }));
}

function componentSchemas(ids: Ids): Json {
  const registry = z.registry<{ id: string }>();
  for (const [schema, id] of ids) registry.add(schema, { id });
  const { schemas: made } = z.toJSONSchema(registry, { ...conversion, uri: (id) => refTo(id).$ref });
  return Object.fromEntries(Object.entries(made).map(([id, schema]) => [id, plain(schema)]));
}

const jsonSchema = (schema: z.ZodType): Json => plain(z.toJSONSchema(schema, conversion));

/** What a value looks like once it is parsed: texts in a query stand for the numbers and flags that they become. */
const conversion = {
  io: "output",
  unrepresentable: "any",
  override: ({ jsonSchema: made }: { jsonSchema: Json }): void => {
    delete made["additionalProperties"];
  },
} as const;

function plain({ $schema: _schema, $id: _id, ...rest }: Json): Json {
  return rest;
}

/** A schema that several operations have is named after the first. */
function idsOf(names: readonly OperationName[], operations: Definitions): Ids {
  const ids = new Map<z.ZodType, string>(Object.entries(views).map(([id, schema]) => [schema, id]));
  const name = (schema: z.ZodType, id: string): void => void (ids.has(schema) || ids.set(schema, id));
  for (const one of names) {
    if (methods[one] === "POST") name(operations[one].input, `${capital(one)}Input`);
    name(operations[one].output, `${capital(one)}Output`);
  }
  return ids;
}

const refTo = (id: string): { $ref: string } => ({ $ref: `#/components/schemas/${id}` });
const capital = (name: string): string => name[0]!.toUpperCase() + name.slice(1);

const problemSchema = {
  type: "object",
  required: ["type", "title", "status", "detail", "code", "remedy", "operands"],
  properties: {
    type: { type: "string", const: "about:blank" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string", description: "what is wrong, as text" },
    code: { type: "string", enum: Object.keys(errorCodes) },
    remedy: { type: "string", description: "what the reader can do about it" },
    operands: { type: "object", description: "the values that it is about" },
  },
};
