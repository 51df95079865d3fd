import type { Agent } from "../../model/agent.ts";

/** Who exists, live or not, read by name. Names are unique within a team; roles and profiles are shared. */
export interface Roster {
  byId(id: string): Agent | null;
  byPane(pane: string): readonly Agent[];
  named(team: string, name: string): Agent | null;
  withRole(team: string, role: string): readonly Agent[];
  ofProfile(team: string, profile: string): readonly Agent[];
  inTeam(team: string): readonly Agent[];
  teams(): readonly string[];
  all(): Iterable<Agent>;
  /** The user is in every team and in none. */
  readonly user: Agent;
}
