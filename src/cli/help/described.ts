/** Commands with all their words: their own, and those of the operations that they name. */
import type { OperationWords } from "../../api/operationWords.ts";
import type { OperationName } from "../../api/schema.ts";
import { standardFlags } from "../input/args.ts";
import type { AnyCommand, Argument, ArgumentShape, FlagShape, Flags, Group, Meaning } from "../command.ts";

interface Summary {
  readonly summary: string;
}

export type DescribedFlag = readonly [name: string, flag: FlagShape & Summary];

export interface DescribedCommand extends Summary {
  readonly name: string;
  readonly group: Group;
  readonly usage: readonly string[];
  readonly details: readonly string[];
  readonly actions: readonly (readonly [name: string, summary: string])[];
  readonly args: readonly (ArgumentShape & Summary)[];
  /** With those that every command takes. */
  readonly flags: readonly DescribedFlag[];
  readonly examples: AnyCommand["examples"];
}

/** A sentence as it is written in a list. */
export const phrase = (sentence: string): string => sentence.replace(/\.$/, "");

const uncapitalized = (text: string): string => `${text.charAt(0).toLowerCase()}${text.slice(1)}`;

export function described(command: AnyCommand, words: OperationWords): DescribedCommand {
  const { name, group, usage, details = [], examples } = command;
  const actions = "actions" in command ? Object.entries(command.actions) : [];
  const text = (meaning: Meaning): string => meaningText(meaning, command, words);
  const flags = command.flags as Flags;
  return {
    ...{ name, group, usage, details, examples },
    summary: "operation" in command ? words.summary(command.operation) : command.summary,
    actions: actions.map(([action, of]) => [action, phrase(typeof of === "string" ? words.summary(of) : of.summary)]),
    args: (command.args as readonly Argument[]).map((argument) => ({ ...argument, summary: text(argument) })),
    flags: Object.entries({ ...flags, ...standardFlags, ...flags }).map(([flag, data]) => [
      flag,
      { ...data, summary: text(data) },
    ]),
  };
}

function meaningText(meaning: Meaning, command: AnyCommand, words: OperationWords): string {
  if ("operation" in meaning) return uncapitalized(phrase(words.summary(meaning.operation)));
  if (!("field" in meaning)) return meaning.summary;
  const { field, note } = meaning;
  const text =
    typeof field === "string" ? fieldText(operationsOf(command), field, words) : textPerAction(field, command, words);
  return note === undefined ? text : `${text}; ${note}`;
}

function fieldText(operations: readonly OperationName[], field: string, words: OperationWords): string {
  for (const operation of operations) {
    const text = words.field(operation, field);
    if (text !== undefined) return text;
  }
  throw new Error(`none of ${operations.join(", ")} describes a field ${field}`);
}

/** "add, rm: an edge; export: the format" */
function textPerAction(fields: Readonly<Record<string, string>>, command: AnyCommand, words: OperationWords): string {
  const actionsOf = Map.groupBy(Object.keys(fields), (action) =>
    fieldText(operationsOf(command, action), fields[action]!, words),
  );
  return [...actionsOf].map(([text, actions]) => `${actions.join(", ")}: ${text}`).join("; ");
}

/** The operations of a command, or of one of its actions. */
export function operationsOf(command: AnyCommand, action?: string): readonly OperationName[] {
  if ("operation" in command) return [command.operation];
  if ("uses" in command) return command.uses;
  if (!("actions" in command)) return [];
  return Object.entries(command.actions).flatMap(([name, of]) =>
    typeof of === "string" && (action ?? name) === name ? [of] : [],
  );
}
