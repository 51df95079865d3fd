/** Every operation. Adding one is adding it to its group, or a new group here. */
import type { z } from "zod";
import type { Call, Operation } from "../operation.ts";
import { adoptOperations } from "./adopt.ts";
import { agentOperations } from "./agents.ts";
import { askingOperations } from "./asking.ts";
import { eventOperations } from "./events.ts";
import { hookOperations } from "./hooks.ts";
import { inboxOperations } from "./inbox.ts";
import { lifeOperations } from "./life.ts";
import { messageOperations } from "./messages.ts";
import { objectOperations } from "./objects.ts";
import { ownOperations } from "./own.ts";
import { pageOperations } from "./page.ts";
import { profileOperations } from "./profiles.ts";
import { projectOperations } from "./projects.ts";
import { pruneOperations } from "./prune.ts";
import { readingOperations } from "./reading.ts";
import { requestOperations } from "./requests.ts";
import { seeingOperations } from "./seeing.ts";
import { selfOperations } from "./self.ts";
import { sendOperations } from "./send.ts";
import { statisticsOperations } from "./statistics.ts";
import { teamOperations } from "./teams.ts";
import { topologyOperations } from "./topology.ts";
import { trustOperations } from "./trust.ts";
import { watchingOperations } from "./watching.ts";

const all = withoutParts([
  ...sendOperations,
  ...inboxOperations,
  ...messageOperations,
  ...askingOperations,
  ...requestOperations,
  ...ownOperations,
  ...agentOperations,
  ...pruneOperations,
  ...adoptOperations,
  ...lifeOperations,
  ...projectOperations,
  ...readingOperations,
  ...seeingOperations,
  ...profileOperations,
  ...topologyOperations,
  ...teamOperations,
  ...trustOperations,
  ...objectOperations,
  ...eventOperations,
  ...watchingOperations,
  ...statisticsOperations,
  ...pageOperations,
  ...hookOperations,
  ...selfOperations,
]);

/** An operation as its callers see it. */
type Described<One> =
  One extends Operation<infer Name, infer In, infer Out, never>
    ? Pick<Operation<Name, In, Out, never>, "name" | "summary" | "access" | "input" | "output">
    : never;

/** The types of clients derive from these, and must not lead to the parts, which are the whole application. */
function withoutParts<const All extends readonly unknown[]>(given: All): { [At in keyof All]: Described<All[At]> } {
  return given as unknown as { [At in keyof All]: Described<All[At]> };
}

type Definition = (typeof all)[number];
export type OperationName = Definition["name"];
export type Definitions = { readonly [One in Definition as One["name"]]: One };
export type Input<Name extends OperationName> = z.input<Definitions[Name]["input"]>;
export type Output<Name extends OperationName> = z.output<Definitions[Name]["output"]>;

export const operationNames: readonly OperationName[] = all.map(({ name }) => name);
export const definitions = Object.fromEntries(all.map((one) => [one.name, one])) as unknown as Definitions;

/** The operations with their parts given. */
export type Operations = {
  readonly [Name in OperationName]: (
    input: z.output<Definitions[Name]["input"]>,
    call: Call,
  ) => Promise<z.input<Definitions[Name]["output"]>>;
};

interface Runnable<Parts> {
  readonly name: OperationName;
  run(parts: Parts, input: never, call: Call): Promise<unknown>;
}

/** The operations of a group, with the parts that they need and no others. */
export function bind<const Group extends readonly Runnable<never>[]>(
  group: Group,
  parts: PartsOf<Group>,
): Pick<Operations, Group[number]["name"]> {
  const bound = group.map(({ name, run }) => [name, (input: never, call: Call) => run(parts as never, input, call)]);
  return Object.fromEntries(bound) as Pick<Operations, Group[number]["name"]>;
}

type PartsOf<Group extends readonly Runnable<never>[]> = Group[number] extends Runnable<infer Parts> ? Parts : never;
