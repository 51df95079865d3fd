/**
 * What an operation is. The checks of every call, OpenAPI, docs/api.md, the help of commands and the MCP tools are
 * derived from it.
 */
import type { z } from "zod";
import type { Access } from "./access.ts";
import type { Caller } from "./schema.ts";

/** Where a call came in: at the socket, which only this user can open, or at the loopback port. */
export type Face = "socket" | "port";

export interface Call {
  readonly caller: Caller;
  /** Aborted when the client goes away or the daemon stops. */
  readonly signal: AbortSignal;
  readonly face: Face;
}

export interface Operation<Name extends string, In extends z.ZodType, Out extends z.ZodType, Parts> {
  readonly name: Name;
  /** One sentence in the imperative, for docs, help and MCP. Each field of the input is described as well. */
  readonly summary: string;
  readonly access: Access;
  readonly input: In;
  readonly output: Out;
  /** `parts` is what this operation needs of the application, and nothing else. */
  run(parts: Parts, input: z.output<In>, call: Call): Promise<z.input<Out>>;
}

export const operation = <const Name extends string, In extends z.ZodType, Out extends z.ZodType, Parts>(
  definition: Operation<Name, In, Out, Parts>,
): Operation<Name, In, Out, Parts> => definition;
