/** How the page talks to its daemon: as the person, whom the browser's cookie proves. */
import { createClient, TielineError, type Client } from "../src/client/browser.ts";

export const daemon = { url: location.origin };

const clients = new Map<string, Client>();

/** Calls for a team; names are looked up there. */
export function inTeam(team: string | null): Client {
  const key = team ?? "";
  const known = clients.get(key) ?? createClient(daemon, team === null ? {} : { team });
  clients.set(key, known);
  return known;
}

export async function metricsText(): Promise<string> {
  const response = await fetch("/metrics");
  if (!response.ok) throw new TielineError("INTERNAL", `/metrics answered ${response.status}`, { remedy: "`tieline daemon logs` shows why" });
  return response.text();
}
