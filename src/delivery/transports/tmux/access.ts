import type { Agent, Endpoint } from "../../../model/agent.ts";
import { withPrompt, type ScreenManifest } from "../../../providers/screen.ts";
import type { Providers } from "../../../providers/providers.ts";
import { UserScreens } from "../../../providers/userScreens.ts";
import type { HomeTraits, TerminalTraits } from "../../../providers/traits.ts";
import type { TmuxServer } from "../../../tmux/server.ts";
import { type PaneLocator, tmuxEndpoint } from "../paneEndpoint.ts";

/** How an agent's pane is read and written. */
export interface PaneAccess {
  readonly server: TmuxServer;
  readonly locator: PaneLocator;
  readonly traits: TerminalTraits;
  readonly manifest: ScreenManifest;
  readonly providers: Pick<Providers, "ofProgram">;
}

export interface AccessParts {
  readonly providers: Providers;
  /** The server behind a socket path. */
  readonly server: (socket: string) => TmuxServer;
  /** Settings of the home, below what a profile says. */
  readonly defaults?: HomeTraits;
  /** The screen rules of each program; the built-in ones when left out. */
  readonly screens?: UserScreens;
}

export type AccessTo = (agent: Agent, endpoint: Endpoint) => PaneAccess;

export function accessOver({
  providers,
  server,
  defaults,
  screens = new UserScreens(null, providers),
}: AccessParts): AccessTo {
  const prompted = new WeakMap<ScreenManifest, Map<string, ScreenManifest>>();
  return (agent, endpoint) => {
    const locator = tmuxEndpoint.locatorOf(endpoint);
    const traits = providers.terminal(agent.provider, locator.terminal, defaults);
    const rules = screens.manifest(agent.provider);
    return {
      providers,
      server: server(locator.socket),
      locator,
      traits,
      manifest: traits.prompt === null ? rules : withOwnPrompt(rules, traits.prompt),
    };
  };

  function withOwnPrompt(rules: ScreenManifest, prompt: string): ScreenManifest {
    const known = prompted.get(rules) ?? new Map<string, ScreenManifest>();
    prompted.set(rules, known);
    const manifest = known.get(prompt) ?? withPrompt(rules, prompt);
    known.set(prompt, manifest);
    return manifest;
  }
}
