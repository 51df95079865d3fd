/** How the page talks to its daemon: as the user, by requests that are signed with the key of this tab. */
import { createClient, type Client, type DaemonAddress } from "../src/client/browser.ts";
import { deviceStore } from "./session/deviceStore.ts";
import { createSession } from "./session/session.ts";

export const session = createSession({
  origin: location.origin,
  fetch: (url, request) => fetch(url, request),
  store: deviceStore(indexedDB),
  now: () => performance.now(),
  isIntercepted: () => Boolean(navigator.serviceWorker?.controller),
});

export const daemon: DaemonAddress = { url: location.origin, fetch: session.fetch };

const clients = new Map<string, Client>();

/** Calls for a team; names are looked up there. */
export function inTeam(team: string | null): Client {
  const key = team ?? "";
  const known = clients.get(key) ?? createClient(daemon, team === null ? {} : { team });
  clients.set(key, known);
  return known;
}
