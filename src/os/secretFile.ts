/**
 * Files that hold one secret each: the user's token and the like. They are written here and nowhere else, and an empty
 * or damaged one is no secret.
 */
import { TielineError } from "../model/errors.ts";
import { atomicWrite } from "./atomicWrite.ts";
import { untrustedText } from "./untrustedFile.ts";

/** Long enough that guessing is hopeless, in characters that a header and a line of a file can carry. */
const wellFormed = /^[\x21-\x7e]{32,1024}$/;
const maxBytes = 4096;

export function writeSecret(path: string, secret: string): void {
  if (!wellFormed.test(secret)) throw new Error(`a secret for ${path} has at least 32 printable characters`);
  atomicWrite(path, `${secret}\n`, { mode: 0o600 });
}

/** null: there is none, which a file without content is as well. Throws when what is there cannot be a secret. */
export function readSecret(path: string): string | null {
  const secret = (untrustedText(path, { maxBytes }) ?? "").trim();
  if (secret === "") return null;
  if (wellFormed.test(secret)) return secret;
  throw new TielineError(
    "HOME_UNSAFE",
    `${path} does not hold a secret: 32 or more printable characters are expected`,
    {
      remedy: `remove it (rm ${path}); the next start makes a new one`,
      operands: { path },
    },
  );
}

/** The secret in the file. Makes one when there is none, and tells about it. */
export function secretIn(path: string, make: () => string, told: (note: string) => void): string {
  const found = readSecret(path);
  if (found !== null) return found;
  const secret = make();
  writeSecret(path, secret);
  told(`made a new secret in ${path}`);
  return secret;
}
