/** What the operations say about themselves, for help, completions and docs/cli.md. */
import { z } from "zod";
import { definitions } from "./operations/index.ts";
import type { OperationName } from "./schema.ts";

export interface OperationWords {
  /** One sentence. */
  readonly summary: (name: OperationName) => string;
  /** What a field of the input means, or undefined if there is no such field. */
  readonly field: (name: OperationName, field: string) => string | undefined;
}

type Described = { readonly [Name in OperationName]: { readonly summary: string; readonly input: z.ZodType } };

export function operationWords(operations: Described = definitions): OperationWords {
  const fields = new Map<OperationName, ReturnType<typeof fieldsOf>>();
  return {
    summary: (name) => operations[name].summary,
    field: (name, field) => {
      const known = fields.get(name) ?? fieldsOf(operations[name].input);
      fields.set(name, known);
      return known.get(field);
    },
  };
}

/** The description of each field. */
export function fieldsOf(input: z.ZodType): ReadonlyMap<string, string | undefined> {
  const schema = z.toJSONSchema(input, { io: "output", unrepresentable: "any" });
  const objects = [schema, ...(schema.anyOf ?? [])];
  const fields = objects.flatMap(({ properties = {} }) => Object.entries(properties));
  return new Map(fields.map(([name, field]) => [name, (field as { description?: string }).description]));
}
