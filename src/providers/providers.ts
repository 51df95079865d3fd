import { TielineError } from "../model/errors.ts";
import { commonDialect, type HookDialect } from "./hooks/hookDialect.ts";
import type { Provider } from "./port.ts";
import { overrideManifest, parseManifest, type ScreenManifest } from "./screen/manifest.ts";
import { terminalTraits, type HomeTraits, type TerminalTraits } from "./traits.ts";

const runtimes = new Set(["node", "bun", "deno", "nodejs"]);

/** The providers of this installation, by name. `compose/providers.ts` lists them. */
export class Providers {
  private readonly known: ReadonlyMap<string, Provider>;

  /** An unknown name is treated as `otherwise`. */
  constructor(
    private readonly listed: readonly Provider[],
    private readonly otherwise: Provider,
  ) {
    const all = [...listed, otherwise].flatMap((one) => (one.headless ? [one, one.headless] : [one]));
    this.known = new Map(all.map((one) => [one.name, one]));
  }

  get names(): readonly string[] {
    return [...this.known.keys()];
  }

  /** Those that know a program, which runs in a terminal. */
  get programs(): readonly Provider[] {
    return this.listed.filter(({ program }) => program !== null);
  }

  get all(): readonly Provider[] {
    return [...this.known.values()];
  }

  of(name: string): Provider {
    return this.known.get(name) ?? { ...this.otherwise, name };
  }

  /** The provider that runs this one's program without a terminal; null: the program cannot run without one. */
  headless(name: string): Provider | null {
    const provider = this.of(name);
    const isHeadless = this.all.some(({ headless }) => headless === provider);
    return isHeadless ? provider : (provider.headless ?? null);
  }

  /** The built-in screen rules of a program, with the user's own rules laid over them. */
  screen(name: string, user?: { readonly data: unknown; readonly source: string }): ScreenManifest {
    const provider = this.known.get(name);
    if (provider === undefined) {
      throw new TielineError("CONFIG_INVALID", `no screen rules for provider "${name}"`, {
        remedy: `use one of ${this.names.join(", ")}`,
        operands: { provider: name, known: this.names },
      });
    }
    const base = parseManifest(provider.screen, `${name}/screen.json`);
    return user ? overrideManifest(base, user.data, user.source) : base;
  }

  terminal(name: string, profile?: Partial<TerminalTraits>, home?: HomeTraits): TerminalTraits {
    return terminalTraits(this.of(name).terminal ?? {}, profile, home);
  }

  dialect(name: string): HookDialect {
    return this.of(name).hooks?.dialect ?? commonDialect;
  }

  /** Every name that a program gives to this event. */
  eventNames(event: string): string[] {
    return [...new Set([event, ...this.all.map(({ name }) => this.dialect(name).ownName(event))])];
  }

  /** The command that installs Tieline's hooks into the settings of a program; null: the program has none. */
  hooksCommand(name: string): string | null {
    const { hooks, program } = this.of(name);
    return hooks === undefined ? null : `tieline setup --hooks ${program}`;
  }

  /** The provider of a running program, by its name or by the script that a runtime runs; null: not a known one. */
  ofProgram(command: string, argv: readonly string[]): string | null {
    const isRuntime = runtimes.has(baseName(argv[0] ?? command));
    const words = isRuntime ? [argv.slice(1).find((word) => !word.startsWith("-")) ?? ""] : [argv[0] ?? "", command];
    for (const word of words) {
      const name = baseName(word).replace(/\.(c|m)?js$/, "");
      const found =
        this.all.find(({ program }) => program === name) ??
        this.all.find(({ packages = [] }) => packages.some((one) => word.includes(`/${one}/`)));
      if (found) return found.name;
    }
    return null;
  }
}

const baseName = (path: string): string => path.split("/").at(-1) ?? "";
