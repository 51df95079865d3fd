import type { Clock, RandomBytes } from "../../model/ids.ts";
import type { Timers } from "../../os/timers.ts";
import type { ObjectHandler } from "../handler.ts";

/** What the built-in objects get in addition to the api of every object. */
export interface BuiltinParts {
  /** What the object wants to know again after a restart. */
  readonly memory: Memory;
  /** Is that message still undelivered? */
  readonly undelivered: (messageId: string) => boolean;
  /** The project's directory. */
  readonly root: string;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

export interface Memory {
  load(): unknown;
  save(value: unknown): void;
}

export type Builtin = (parts: BuiltinParts) => ObjectHandler;
