import { lstatSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { asTielineError } from "../model/errors.ts";
import { loadHomeConfig, type HomeConfig } from "./home.ts";
import { versionOf } from "./projects.ts";

/**
 * Whether `config.json` says something else than the daemon was started with: what to tell the user, or null. The file
 * is read again only when it has changed.
 */
export function configChange(file: string, loaded: HomeConfig): () => string | null {
  let known: { readonly version: string; readonly told: string | null } | null = null;
  return () => {
    const stats = lstatSync(file, { throwIfNoEntry: false });
    const version = stats === undefined ? "none" : versionOf(stats);
    if (known?.version !== version) known = { version, told: told(file, loaded) };
    return known.told;
  };
}

function told(file: string, loaded: HomeConfig): string | null {
  try {
    if (isDeepStrictEqual(loadHomeConfig(file), loaded)) return null;
    return (
      `${file} changed; restart the daemon: \`tieline daemon stop\`, and the next command starts it with the ` +
      "new settings"
    );
  } catch (thrown) {
    const { message, remedy } = asTielineError(thrown);
    return `${file} changed, and the daemon would not start with it: ${message}; ${remedy}`;
  }
}
