import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import { fileOf, removeProfileFile, writeProfileFile } from "../../agents/profiles/profileFiles.ts";
import type { Profiles } from "../../agents/profiles/profiles.ts";
import type { Teams } from "../../agents/teams.ts";
import type { Trust } from "../../agents/trust/trust.ts";
import type { Project } from "../../config/project.ts";
import { TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { newProfileFields, ProfileView } from "../schemas/profiles.ts";

export interface ProfileParts {
  readonly callers: Callers;
  readonly profiles: Profiles;
  readonly teams: Teams;
  readonly trust: Trust;
  readonly directory: Directory;
}

const oneProfile = z.object({ name: z.string().describe("the name of the profile") });

export const profileOperations = [
  operation({
    name: "profiles",
    summary: "List the profiles that agents can be started from.",
    access: "everyone",
    input: z.object({}),
    output: z.array(ProfileView),
    async run(parts: ProfileParts, _, { caller }) {
      const { callers, profiles, teams } = parts;
      const { team } = await callers.sender(caller);
      return profiles.list(teams.projectOf(team)).map((profile) => view(parts, profile, team));
    },
  }),

  operation({
    name: "profile",
    summary: "Show a profile.",
    access: "everyone",
    input: oneProfile,
    output: ProfileView,
    async run(parts: ProfileParts, { name }, { caller }) {
      const { callers, profiles, teams } = parts;
      const { team } = await callers.sender(caller);
      return view(parts, profiles.mustFind(teams.projectOf(team), name), team);
    },
  }),

  operation({
    name: "profileAdd",
    summary: "Write a profile file.",
    access: "user",
    input: oneProfile.extend({
      scope: z.enum(["project", "user"]).describe("whether it is for this project, or for all projects of the user"),
      ...newProfileFields,
    }),
    output: ProfileView,
    async run(parts: ProfileParts, { name, scope, ...fields }, { caller, face }) {
      const { callers, teams, profiles, trust } = parts;
      const { team } = await callers.user(caller);
      const project = teams.projectOf(team);
      if (scope === "project" && project === null) throw noProject(team);
      if (scope === "project" && project!.agents.has(name)) throw declared(project!, name);
      // A file that builds on nothing would spoil the list of all.
      if (fields.profile !== undefined) profiles.mustFind(project, fields.profile);
      const kept = scope === "project" && face === "socket" ? trust.inspect(project!.root) : null;
      writeProfileFile(profiles.directoryFor(scope === "project" ? project : null), name, fields);
      if (kept !== null) trust.extend(kept, name);
      return view(parts, profiles.mustFind(project, name), team);
    },
  }),

  operation({
    name: "profileRemove",
    summary: "Remove a profile file.",
    access: "user",
    input: oneProfile,
    output: z.object({ name: z.string(), file: z.string() }),
    async run(parts: ProfileParts, { name }, { caller, face }) {
      const { callers, profiles, teams, trust } = parts;
      const { team } = await callers.user(caller);
      const profile = profiles.mustFind(teams.projectOf(team), name);
      const kept = profile.origin === "project" && face === "socket" ? trust.inspect(profile.project!) : null;
      const file = removeProfileFile(profile);
      if (kept !== null) trust.extend(kept, name);
      return { name, file };
    },
  }),
] as const;

function view(parts: ProfileParts, profile: Profile, team: string): ProfileView {
  const { directory } = parts;
  const {
    name,
    origin,
    source,
    description,
    provider,
    command,
    model,
    role,
    cwd,
    permissions,
    may,
    autostart,
    prompt,
  } = profile;
  const agents = directory.roster.ofProfile(team, name).map((agent) => ({ name: agent.name, state: agent.state }));
  return {
    ...{
      name,
      origin,
      source,
      file: fileOf(profile),
      description,
      provider,
      command: command && [...command],
      model,
      role,
      cwd,
    },
    ...{ permissions, may: [...may], autostart, prompt, agents },
  };
}

const noProject = (team: string): TielineError =>
  new TielineError("CONFIG_INVALID", `team ${team} has no project, so there is no .tieline/agents to write to`, {
    remedy: "use --user, or `tieline init` in the project's directory",
    operands: { team },
  });

const declared = ({ file }: Project, name: string): TielineError =>
  new TielineError("CONFLICT", `${file} already defines "${name}" and takes precedence over the new file`, {
    remedy: "change it there, or choose another name",
    operands: { name, file },
  });
