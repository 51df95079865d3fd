import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../src/client/browser.ts";
import { attempt } from "../actions.ts";
import { inTeam } from "../api.ts";
import { refresh } from "../refresh.ts";
import { agents, type AgentName } from "../state.ts";
import { Act } from "./act.tsx";
import { Dialog } from "./dialog.tsx";
import { Sure } from "./sure.tsx";

type Team = Output<"teams">[number];
type Change = (work: () => Promise<unknown>, done: string) => Promise<boolean>;

/** Teams are made, renamed, stopped, started and disbanded here, and agents moved between them. */
export function TeamsPanel({ agent }: { agent: AgentName | null }): VNode {
  const teams = useSignal<readonly Team[]>([]);
  const load = async (): Promise<void> => {
    teams.value = await inTeam(null).call("teams", {});
  };
  const change: Change = async (work, done) => {
    const worked = await attempt(work, done);
    await attempt(() => Promise.all([load(), refresh()]));
    return worked;
  };
  useEffect(() => void attempt(load), []);
  return (
    <Dialog kind="teams" label="Teams">
      <ul class="team-list">
        {teams.value.map((team) => (
          <TeamRow key={team.name} team={team} change={change} />
        ))}
      </ul>
      <NewTeam change={change} />
      <Move
        key={agent === null ? "" : `${agent.team}:${agent.name}`}
        agent={agent}
        teams={teams.value}
        change={change}
      />
    </Dialog>
  );
}

function TeamRow({ team: { name, members, pending, edges }, change }: { team: Team; change: Change }): VNode {
  const renamed = useSignal<string | null>(null);
  const rename = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (
      await change(
        () => inTeam(name).call("teamRename", { team: name, name: renamed.value! }),
        `${name} is called ${renamed.value} now`,
      )
    )
      renamed.value = null;
  };
  const programs = members.filter(({ kind }) => kind === "program").length;
  const facts = [
    `${programs} ${programs === 1 ? "agent" : "agents"}`,
    edges === null ? "no topology" : `${edges} edges`,
    pending > 0 ? `${pending} ${pending === 1 ? "message waits" : "messages wait"}` : null,
  ].filter(Boolean);
  return (
    <li data-team={name}>
      {renamed.value === null ? (
        <div class="named">
          <strong>{name}</strong>
          <span class="muted small">{facts.join(" · ")}</span>
        </div>
      ) : (
        <form class="inline" aria-label={`Rename ${name}`} onSubmit={(event) => void rename(event)}>
          <input
            aria-label="New name"
            ref={(element) => element?.focus()}
            required
            value={renamed.value}
            onInput={({ currentTarget }) => (renamed.value = currentTarget.value)}
          />
          <Act type="submit">Rename</Act>
        </form>
      )}
      <span class="actions">
        {renamed.value === null && <button onClick={() => (renamed.value = name)}>Rename…</button>}
        <Act
          title="Start the agents of this team that are not running"
          onClick={() => void change(() => inTeam(name).call("resume", {}), `Stopped agents of ${name} start again`)}
        >
          Start stopped agents
        </Act>
        <Sure
          label="Shut down"
          really="Stop them all?"
          onSure={() => void change(() => inTeam(name).call("teamShutdown", { team: name }), `${name} is shut down`)}
        />
        <Sure
          label="Disband"
          really="Really disband?"
          onSure={() => void change(() => inTeam(name).call("teamDisband", { team: name }), `${name} is disbanded`)}
        />
      </span>
    </li>
  );
}

function NewTeam({ change }: { change: Change }): VNode {
  const name = useSignal("");
  const create = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await change(() => inTeam(null).call("teamCreate", { team: name.value }), `Team ${name.value} was created`))
      name.value = "";
  };
  return (
    <form class="inline" aria-label="New team" onSubmit={(event) => void create(event)}>
      <input
        aria-label="Name of the new team"
        placeholder="name of a new team"
        required
        value={name.value}
        onInput={({ currentTarget }) => (name.value = currentTarget.value)}
      />
      <Act type="submit">Create</Act>
    </form>
  );
}

function Move({ agent, teams, change }: { agent: AgentName | null; teams: readonly Team[]; change: Change }): VNode {
  const who = useSignal(agent === null ? "" : `${agent.team}:${agent.name}`);
  const to = useSignal("");
  const [from = "", name = ""] = who.value.split(":");
  const move = (event: Event): void => {
    event.preventDefault();
    void change(
      () => inTeam(from).call("teamJoin", { team: to.value, agent: name }),
      `${name} is in ${to.value} now`,
    ).then((worked) => worked && (who.value = to.value = ""));
  };
  const programs = agents.value.map(({ view }) => view.value).filter(({ kind }) => kind === "program");
  return (
    <form class="inline" aria-label="Move an agent" onSubmit={move}>
      <select
        aria-label="Agent"
        required
        value={who.value}
        onChange={({ currentTarget }) => (who.value = currentTarget.value)}
      >
        <option value="">move an agent…</option>
        {programs.map((one) => (
          <option key={one.id} value={`${one.team}:${one.name}`}>{`${one.name} (${one.team})`}</option>
        ))}
      </select>
      <span aria-hidden="true">→</span>
      <select
        aria-label="Team"
        required
        value={to.value}
        onChange={({ currentTarget }) => (to.value = currentTarget.value)}
      >
        <option value="">to team…</option>
        {teams
          .filter((team) => team.name !== from)
          .map((team) => (
            <option key={team.name}>{team.name}</option>
          ))}
      </select>
      <Act type="submit">Move</Act>
    </form>
  );
}
