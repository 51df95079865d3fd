import type { OperationName } from "../api/schema.ts";
import type { Client } from "../client/client.ts";
import type { Home } from "../client/home.ts";
import type { Terminal } from "./output/terminal.ts";

/**
 * Commands are data: the parser, `help`, the completions and docs/cli.md all read the same object. What an operation
 * of the API says about itself and its fields is not repeated here: a command names the operation, and described.ts
 * reads the words when they are shown. This file holds types only, so that it costs a running command nothing.
 */

/** What a shell can complete for a value in addition to its choices. */
export type Completion = "agent" | "profile" | "team" | "tag" | "file" | "directory";

/**
 * What an argument or a flag means. One that becomes a field of an operation names the field, and `note` adds what
 * only the command line knows. Where actions have different operations, the field is named for each action.
 */
export type Meaning =
  | { readonly field: string | Readonly<Record<string, string>>; readonly note?: string; readonly summary?: never }
  | { readonly operation: OperationName; readonly summary?: never }
  | { readonly summary: string };

export type Argument = Meaning & ArgumentShape;
export interface ArgumentShape {
  readonly name: string;
  readonly optional?: boolean;
  /** Takes all the words that are left. Only for the last argument. */
  readonly many?: boolean;
  readonly choices?: readonly string[];
  readonly complete?: Completion;
}

export type Flag = Meaning & FlagShape;
export interface FlagShape {
  /** One letter, or "" for a lone `-`. */
  readonly short?: string;
  /** What the value is called in the usage. Without it the flag is on or off. */
  readonly value?: string;
  readonly choices?: readonly string[];
  /** Turns the text into the value, or throws USAGE. */
  readonly parse?: (text: string, flag: string) => unknown;
  readonly complete?: Completion;
  /** Values that a shell offers, although others are allowed. */
  readonly suggest?: readonly string[];
  readonly required?: boolean;
}

export type Flags = Readonly<Record<string, Flag>>;

type FlagValue<F extends Flag> = F extends { parse: (text: string, flag: string) => infer Value }
  ? Value
  : F extends { choices: readonly (infer Choice)[] }
    ? Choice
    : F extends { value: string }
      ? string
      : true;

export type FlagValues<F extends Flags> = {
  readonly [Name in keyof F as F[Name] extends { required: true } ? Name : never]: FlagValue<F[Name]>;
} & {
  readonly [Name in keyof F as F[Name] extends { required: true } ? never : Name]?: FlagValue<F[Name]>;
};

export type ArgumentValues<A extends readonly Argument[]> = {
  readonly [One in A[number] as One["name"]]: One extends { many: true }
    ? readonly string[]
    : One extends { optional: true }
      ? string | undefined
      : string;
};

type ArgumentValue<One> = One extends { many: true }
  ? string[]
  : One extends { choices: readonly (infer Choice)[] }
    ? Choice
    : string;

/** What the arguments and flags with a field give the operation. */
export type InputValues<A extends readonly Argument[], F extends Flags> = {
  readonly [One in A[number] as One extends { optional: true } ? never : FieldOf<One>]: ArgumentValue<One>;
} & {
  readonly [One in A[number] as One extends { optional: true } ? FieldOf<One> : never]?: ArgumentValue<One>;
} & { readonly [Name in keyof F as FieldOf<F[Name]>]?: FlagValue<F[Name]> };

type FieldOf<One> = One extends { field: infer Field extends string } ? Field : never;

/** What every command takes: `standardFlags` in args.ts. */
export interface StandardValues {
  readonly team?: string;
  readonly json?: true;
  readonly help?: true;
}

export interface Context<A extends readonly Argument[] = [], F extends Flags = Record<never, Flag>> {
  readonly args: ArgumentValues<A>;
  readonly flags: FlagValues<F> & StandardValues;
  /** The same by field, for the operation. */
  readonly input: InputValues<A, F>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: Home;
  /** Starts the daemon when a call finds none. */
  readonly daemon: Client;
  /** Fails when there is no daemon. */
  readonly runningDaemon: Client;
  readonly terminal: Terminal;
}

export type Group = "Messages" | "Agents" | "Project" | "Tieline itself";

/** Where the summary of a command and its fields come from. */
type Origin =
  /** It is this operation. */
  | { readonly operation: OperationName; readonly summary?: never }
  /** It does something of its own with these operations. */
  | { readonly uses: readonly OperationName[]; readonly summary: string }
  /** Its first argument selects one of these, each with an operation or words of its own. */
  | {
      readonly actions: Readonly<Record<string, OperationName | { readonly summary: string }>>;
      readonly summary: string;
    }
  /** It needs no operation. */
  | { readonly summary: string };

export type Command<A extends readonly Argument[] = readonly Argument[], F extends Flags = Flags> = Origin & {
  readonly name: string;
  readonly group: Group;
  /** How it is called, without `tieline`; more than one when there are forms. */
  readonly usage: readonly string[];
  /** What a user should know beyond the flags, in short paragraphs. */
  readonly details?: readonly string[];
  readonly args: A;
  readonly flags: F;
  readonly examples: readonly (readonly [command: string, explanation: string])[];
  /** Resolves with the exit code. */
  run(context: Context<A, F>): Promise<number>;
};

/** A command whose arguments are known only when it runs. */
// eslint-disable-next-line typescript/no-explicit-any -- contexts of different commands have nothing in common
export type AnyCommand = Command<any, any>;
