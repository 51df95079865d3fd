import type { ProfileView } from "../schemas/profiles.ts";
import type { Switch } from "../../compose/index.ts";
import type { Project } from "../../config/project.ts";
import { fileOf, removeProfileFile, writeProfileFile } from "../../agents/profiles/profileFiles.ts";
import { userId } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import type { Profile } from "../../model/profile.ts";
import { programCalled } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import type { Operations } from "../../daemon/http.ts";

type ProfileOperations = Pick<Operations, "profiles" | "profile" | "profileAdd" | "profileRemove" | "note">;

export function profileOperations(tieline: Switch, callers: Callers): ProfileOperations {
  const { profiles, teams, directory, trust } = tieline;

  return {
    async profiles(_, { caller }) {
      const { team } = await callers.sender(caller);
      return profiles.list(teams.projectOf(team)).map((profile) => view(profile, team));
    },

    async profile({ name }, { caller }) {
      const { team } = await callers.sender(caller);
      return view(profiles.mustFind(teams.projectOf(team), name), team);
    },

    async profileAdd({ name, scope, ...fields }, { caller, face }) {
      const { team } = await callers.user(caller);
      const project = teams.projectOf(team);
      if (scope === "project" && project === null) throw noProject(team);
      if (scope === "project" && project!.agents.has(name)) throw declared(project!, name);
      // A file that builds on nothing would spoil the list of all.
      if (fields.profile !== undefined) profiles.mustFind(project, fields.profile);
      const kept = scope === "project" && face === "socket" ? trust.inspect(project!.root) : null;
      writeProfileFile(profiles.directoryFor(scope === "project" ? project : null), name, fields);
      if (kept !== null) trust.extend(kept, name);
      return view(profiles.mustFind(project, name), team);
    },

    async profileRemove({ name }, { caller, face }) {
      const { team } = await callers.user(caller);
      const profile = profiles.mustFind(teams.projectOf(team), name);
      const kept = profile.origin === "project" && face === "socket" ? trust.inspect(profile.project!) : null;
      const file = removeProfileFile(profile);
      if (kept !== null) trust.extend(kept, name);
      return { name, file };
    },

    async note({ text, agent: address }, { caller }) {
      const from = await callers.sender(caller);
      if (address === undefined && from.id === userId) throw noteOfWhom();
      const agent = address === undefined ? directory.agent(from.id)! : programCalled(address, from, tieline);
      if (from.id !== userId && from.id !== agent.id) throw notYourNote(agent.name);
      const { name, note } = directory.update(agent.id, { note: text });
      return { agent: name, note };
    },
  };

  function view(profile: Profile, team: string): ProfileView {
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
}

const noProject = (team: string): TielineError =>
  new TielineError("CONFIG_INVALID", `team ${team} has no project, so there is no .tieline/agents to write to`, {
    remedy: "use --user, or `tieline init` in the project's directory",
    operands: { team },
  });

const declared = ({ file }: Project, name: string): TielineError =>
  new TielineError("CONFLICT", `${file} declares ${name}, which would go before the new file`, {
    remedy: "change it there, or choose another name",
    operands: { name, file },
  });

const noteOfWhom = (): TielineError =>
  new TielineError("USAGE", "a note is an agent's, and you are not one", {
    remedy: "name the agent: `tieline note --agent NAME TEXT`",
  });

const notYourNote = (name: string): TielineError =>
  new TielineError("NOT_PERMITTED", `the note of ${name} is its own`, {
    remedy: "leave --agent out to write your own",
    operands: { agent: name },
  });
