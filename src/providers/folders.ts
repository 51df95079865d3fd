import { join } from "node:path";

export type Environment = Readonly<Record<string, string | undefined>>;

export const homeIn = (env: Environment): string => env["HOME"] || "/";

/** A folder in the user's home. */
export const inHome = (env: Environment, name: string): string => join(homeIn(env), name);
