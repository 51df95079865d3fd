import { z } from "zod";
import { HomeConfig } from "./home.ts";
import { ProfileFields } from "./profileFields.ts";
import { ObjectFields, ProjectFile } from "./project.ts";
import { projectTemplate } from "./template.ts";

/** docs/configuration.md, made from the schemas so that no key is forgotten and no default is wrong. */
export function configurationPage(): string {
  return `# Configuration

This page is made from the schemas by \`scripts/docs-config.ts\`.

There are two files, both optional. An unknown key is an error that suggests the nearest known one. A wrong value is an
error that names the key, the given value and what is expected, with file, line and column.

## config.json, in the home

\`~/.tieline/config.json\`, or in \`TIELINE_HOME\` if that is set. The daemon reads it when it starts and never writes
to it. After a change, commands tell you to restart the daemon (\`tieline daemon stop\`). Keys are nested by section:
\`{"delivery": {"retries": 0}}\`.

${table(homeRows())}

## tieline.yaml, in the project

Found by walking up from the working directory; its directory is the project. Files of other users are ignored.
Tieline never writes to it, and starts nothing from it until you trust it ([trust](trust.md)).

${table(rowsOf(ProjectFile))}

\`tieline init\` writes this file:

\`\`\`yaml
${projectTemplate("web").trimEnd()}
\`\`\`

### An agent

The keys under \`agents: <name>:\`, and in the front matter of a profile file (\`.tieline/agents/<name>.md\` in the
project, \`agents/<name>.md\` in the home). A profile is looked up in \`tieline.yaml\`, then in the project's files,
then in the user's, then among the built-in ones. An entry without a \`command\` that has the name of a profile
further down refines that profile; \`profile:\` names another one to build on.

${table(rowsOf(ProfileFields))}

### An object

${table(rowsOf(ObjectFields))}

## Which team a command works in

\`--team\`, else \`TIELINE_TEAM\`, else the team of the nearest \`tieline.yaml\`, else \`default\`.
[Teams](routing.md#teams) explains which directory a team belongs to.
`;
}

interface Row {
  readonly key: string;
  readonly schema: JsonSchema;
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

const jsonOf = (schema: z.ZodType): JsonSchema => z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });

function homeRows(): Row[] {
  return rowsOf(HomeConfig).flatMap((section) =>
    propertiesOf(section.schema).map(({ key, schema }) => ({ key: `${section.key}.${key}`, schema })),
  );
}

const rowsOf = (schema: z.ZodType): Row[] => propertiesOf(jsonOf(schema));

function propertiesOf(schema: JsonSchema): Row[] {
  return Object.entries(schema.properties ?? {}).map(([key, inner]) => ({ key, schema: inner as JsonSchema }));
}

function table(rows: readonly Row[]): string {
  const withDefault = rows.some(({ schema }) => isPlain(schema.default));
  const head = withDefault
    ? ["| Key | Value | Default | |", "|---|---|---|---|"]
    : ["| Key | Value | |", "|---|---|---|"];
  const body = rows.map(({ key, schema }) => {
    const shown = isPlain(schema.default) ? `\`${JSON.stringify(schema.default)}\`` : "";
    const cells = [`\`${key}\``, valueWords(schema), ...(withDefault ? [shown] : []), schema.description ?? ""];
    return `| ${cells.join(" | ")} |`;
  });
  return [...head, ...body].join("\n");
}

/** Empty maps are no defaults worth showing. */
const isPlain = (value: unknown): boolean => value !== undefined && (value === null || typeof value !== "object");

/** What may stand there, in words. */
function valueWords(schema: JsonSchema): string {
  if (schema.enum) return schema.enum.map((value) => `\`${value}\``).join(", ");
  if (schema.anyOf) return [...new Set(schema.anyOf.map((branch) => valueWords(branch as JsonSchema)))].join(" or ");
  if (schema.type === "array") return `list of ${valueWords(schema.items as JsonSchema)}`;
  if (schema.type === "integer") return `whole number${rangeWords(schema)}`;
  return typeWords[String(schema.type)] ?? "anything";
}

function rangeWords({ minimum, maximum }: JsonSchema): string {
  const bounded = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER;
  if (minimum === undefined || minimum <= Number.MIN_SAFE_INTEGER) return "";
  return bounded ? `, ${minimum} to ${maximum}` : `, ${minimum} or more`;
}

const typeWords: Record<string, string> = {
  string: "text",
  number: "number",
  boolean: "`true`, `false`",
  object: "map",
  null: "`null`",
};
