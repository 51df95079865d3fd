import { statSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../model/errors.ts";
import { settingsRules, untrustedText } from "../os/untrustedFile.ts";
import type { Providers } from "./providers.ts";
import type { ScreenManifest } from "./screen.ts";

/**
 * The screen rules of each program with the user's own laid over them: `<directory>/<provider>.json`. An edited file
 * takes effect at the next reading. An invalid one is refused with CONFIG_INVALID, so that nothing is typed by half of
 * the rules.
 */
export class UserScreens {
  private readonly known = new Map<string, { readonly stamp: string; readonly manifest: ScreenManifest }>();

  /** Without a directory there are only the built-in rules. */
  constructor(
    private readonly directory: string | null,
    private readonly providers: Pick<Providers, "screen">,
  ) {}

  manifest(provider: string): ScreenManifest {
    const file = join(this.directory ?? "/", `${provider}.json`);
    const stamp = this.directory === null ? "" : stampOf(file);
    const known = this.known.get(provider);
    if (known?.stamp === stamp) return known.manifest;
    const user = stamp === "" ? undefined : { data: parse(file), source: file };
    const manifest = this.providers.screen(provider, user);
    this.known.set(provider, { stamp, manifest });
    return manifest;
  }
}

/** Empty where there is no file. */
function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false, bigint: true });
  return stat === undefined ? "" : `${stat.ino} ${stat.mtimeNs} ${stat.size}`;
}

function parse(file: string): unknown {
  const text = untrustedText(file, settingsRules()) ?? "";
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new TielineError("CONFIG_INVALID", `${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      remedy: "correct the file, or remove it to have the built-in rules; docs/screens.md shows an example",
      operands: { source: file },
      cause,
    });
  }
}
