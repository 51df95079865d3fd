/** Everything that is known of one agent, and what can be done to it. */
import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import type { AgentView, InboxView } from "../../src/client/browser.ts";
import { AgentActs } from "../agent/acts.tsx";
import { useAnswer } from "../agent/answer.ts";
import { AgentMessages } from "../agent/history.tsx";
import { AgentLink } from "../agent/link.tsx";
import { addressOf, agentAt } from "../agent/names.ts";
import { inTeam } from "../api.ts";
import { writeTo } from "../compose/draft.ts";
import { AgentState, Avatar, DeliveryState, Presence } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { linkTo, opened } from "../route.ts";
import { agents, connection, now } from "../state.ts";
import { visible } from "../text.ts";
import { age, span, timeOf } from "../times.ts";

export function AgentPage(): VNode {
  const address = opened.value ?? "";
  return (
    <section class="view agents">
      <OneAgent key={address} address={address} />
    </section>
  );
}

/** An agent that is removed while its page is open stays on it, as it was last known. */
function OneAgent({ address }: { readonly address: string }): VNode {
  const found = agentAt(address);
  const last = useRef<AgentView | null>(null);
  const isRemoved = found === null && last.current !== null;
  if (found !== null) last.current = found.view.value;
  const agent = last.current;
  if (agent === null) return <Unknown address={address} />;
  return (
    <div class="agent-page" data-agent={agent.name} data-state={isRemoved ? "removed" : agent.state}>
      <header class="agent-head">
        <Avatar name={agent.name} />
        <div class="who">
          <h2>
            <Presence presence={agent.presence} /> <span class="agent-name">{agent.name}</span>
          </h2>
          <p>{[agent.team, agent.role, agent.provider].filter(Boolean).join(" · ")}</p>
        </div>
        <span class="actions">
          <button
            class="primary"
            disabled={isRemoved}
            onClick={() => writeTo(agent)}
            aria-keyshortcuts="w"
            title="Write (w)"
          >
            <Icon name="compose" /> Write
          </button>
          {agent.pane !== null && !isRemoved && (
            <a class="button" href={linkTo("terminal", addressOf(agent))} aria-keyshortcuts="e" title="Terminal (e)">
              <Icon name="terminal" /> Terminal
            </a>
          )}
        </span>
      </header>
      {isRemoved ? (
        <p class="failure" role="alert">
          {`${agent.name} was removed. The page shows what was last known about it.`}
        </p>
      ) : (
        <p class="doing">
          <AgentState agent={agent} /> <span class="reason">{visible(agent.reason ?? agent.note ?? "")}</span>
        </p>
      )}
      {!isRemoved && <AgentActs agent={agent} disabled={isRemoved} />}
      <div class="columns">
        <About agent={agent} />
        <Transports agent={agent} isRemoved={isRemoved} />
        <div class="stacked">
          <Queue agent={agent} isRemoved={isRemoved} />
          <Edges agent={agent} isRemoved={isRemoved} />
        </div>
      </div>
      <AgentMessages agent={agent} />
    </div>
  );
}

function Unknown({ address }: { readonly address: string }): VNode {
  const isLoaded = connection.value !== "connecting" || agents.value.length > 0;
  return (
    <div class="empty">
      <h2>{isLoaded ? "No such agent" : "Loading…"}</h2>
      {isLoaded && (
        <p>
          There is no agent <code>{visible(address)}</code>. It may have been removed or renamed.{" "}
          <a href={linkTo("team")}>All agents</a>
        </p>
      )}
    </div>
  );
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }): VNode {
  return (
    <section class="facet" aria-label={title}>
      <h2>{title}</h2>
      {children}
    </section>
  );
}

const Failed = ({ what, why }: { readonly what: string; readonly why: string | null }): VNode | null =>
  why === null ? null : <p class="why">{`${what}: ${visible(why)}`}</p>;

function About({ agent }: { readonly agent: AgentView }): VNode {
  const { team, profile: profileName } = agent;
  const profiles = useAnswer(() => inTeam(team).call("profiles", {}), [team, profileName]);
  const profile = profiles.value.value?.find(({ name }) => name === profileName) ?? null;
  const command = profile?.command?.join(" ") ?? null;
  const facts: readonly (readonly [string, string | null])[] = [
    ["Address", addressOf(agent)],
    ["Program", [agent.provider, command && `(${command})`].filter(Boolean).join(" ")],
    ["Profile", profileName === null ? "none: it was adopted or registered" : profileName],
    ["Defined in", profile?.source ?? null],
    ["Model", agent.model ?? profile?.model ?? null],
    ["Directory", agent.cwd ?? profile?.cwd ?? null],
    ["Workspace", agent.workspace],
    ["Conversation", agent.sessionId],
    ["Pane", agent.pane],
    ["Rights", agent.may.length === 0 ? null : agent.may.join(", ")],
    ["Note", agent.note],
    ["Last activity", agent.lastActivityAt === 0 ? null : age(now.value - agent.lastActivityAt)],
  ];
  return (
    <Part title="About">
      <dl>
        {facts.map(([label, value]) =>
          value === null || value === "" ? null : (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{visible(value)}</dd>
            </div>
          ),
        )}
      </dl>
      {agent.exit !== null && (
        <div class="exit">
          <p class="why">
            {`${visible(agent.exit.command)} exited after ${span(agent.exit.afterMs)}` +
              `${agent.exit.code === null ? "" : ` with code ${agent.exit.code}`}`}
          </p>
          <pre class="screen">{agent.exit.output.map(visible).join("\n")}</pre>
        </div>
      )}
      <Failed what="The profile cannot be read" why={profiles.failure.value} />
    </Part>
  );
}

interface PartProps {
  readonly agent: AgentView;
  readonly isRemoved: boolean;
}

const readAs = { user: "the user's words", peer: "a peer's words" } as const;

function Transports({ agent, isRemoved }: PartProps): VNode {
  const { team, name, state, pane, endpoints, heldAt, pending } = agent;
  const explanation = useAnswer(
    async () =>
      isRemoved || pane === null || agent.kind !== "program" ? null : inTeam(team).call("explain", { agent: name }),
    [team, name, state, pane, heldAt, pending, isRemoved],
  );
  const told = explanation.value.value;
  return (
    <Part title="Transports">
      {endpoints.length === 0 ? (
        <p class="muted">None. Messages wait until it runs.</p>
      ) : (
        <table>
          <thead>
            <tr>
              <th scope="col">Transport</th>
              <th scope="col">Best proof</th>
              <th scope="col">The model reads it as</th>
            </tr>
          </thead>
          <tbody>
            {endpoints.map(({ transport, bestProof, authority }) => (
              <tr key={transport}>
                <td>
                  {transport}
                  {told?.way === transport && <small class="chosen"> your messages</small>}
                </td>
                <td>{bestProof}</td>
                <td>{readAs[authority as keyof typeof readAs] ?? authority}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {told && (
        <dl class="explanation">
          <Fact label="Screen" value={`${told.state}${told.rule === null ? "" : `, by the rule ${told.rule}`}`} />
          <Fact label="Because" value={told.why} />
          <Fact label="Typing" value={told.hold === null ? "possible now" : `not now: ${told.hold}`} />
          <Fact label="Directory now" value={told.known?.directory ?? null} />
          <Fact label="Command" value={told.known?.command ?? null} />
        </dl>
      )}
      {!isRemoved && <Failed what="The screen cannot be read" why={explanation.failure.value} />}
    </Part>
  );
}

function Fact({ label, value }: { readonly label: string; readonly value: string | null }): VNode | null {
  if (value === null || value === "") return null;
  return (
    <div>
      <dt>{label}</dt>
      <dd>{visible(value)}</dd>
    </div>
  );
}

function Edges({ agent, isRemoved }: PartProps): VNode {
  const { team } = agent;
  const count = agents.value.length;
  const answer = useAnswer(
    async () => (isRemoved ? null : inTeam(team).call("topology", { agent: addressOf(agent) })),
    [agent.id, count, isRemoved],
  );
  const reach = answer.value.value?.reach;
  return (
    <Part title="Edges">
      {reach && (
        <>
          <h3>May write to</h3>
          {reach.everyone ? (
            <p class="muted">Every agent: the team has no topology.</p>
          ) : (
            <Names of={reach.mayWriteTo} none="No agent." />
          )}
          <h3>May be written to by</h3>
          <Names of={reach.mayBeWrittenBy} none="No agent." />
        </>
      )}
      <p>
        <a href={linkTo("graph")}>Graph</a>
      </p>
      {!isRemoved && <Failed what="The edges cannot be read" why={answer.failure.value} />}
    </Part>
  );
}

const mostNames = 40;

function Names({ of, none }: { readonly of: readonly string[]; readonly none: string }): VNode {
  if (of.length === 0) return <p class="muted">{none}</p>;
  return (
    <ul class="names">
      {of.slice(0, mostNames).map((address) => {
        const [first = "", second] = address.split(":");
        return (
          <li key={address}>
            <AgentLink name={second ?? first} team={second === undefined ? null : first} />
          </li>
        );
      })}
      {of.length > mostNames && <li class="muted">{`and ${of.length - mostNames} more`}</li>}
    </ul>
  );
}

const mostQueued = 5;

function Queue({ agent, isRemoved }: PartProps): VNode {
  const { team, name, pending, held, heldAt } = agent;
  const answer = useAnswer(
    async (): Promise<readonly InboxView[]> =>
      isRemoved || pending === 0
        ? []
        : inTeam(team).call("inbox", { agent: name, pending: true, peek: true, limit: mostQueued }),
    [team, name, pending, heldAt, isRemoved],
  );
  const rows = answer.value.value ?? [];
  return (
    <Part title="Queue">
      {pending === 0 ? (
        <p class="muted">No messages wait.</p>
      ) : (
        <>
          {held !== null && (
            <p class="why">
              {visible(held)}
              {heldAt === null ? "" : `, for ${span(now.value - heldAt)}`}
            </p>
          )}
          <ul class="queued">
            {rows.map(({ tag, from, body, state, at }) => (
              <li key={tag} data-tag={tag}>
                <time>{timeOf(at)}</time>
                <a class="what" dir="auto" href={linkTo("messages", tag)}>
                  {from}: {visible(body.split("\n", 1)[0]!)}
                </a>
                <DeliveryState state={state} />
              </li>
            ))}
          </ul>
          <p>
            <a href={linkTo("queue", addressOf(agent))} aria-keyshortcuts="q">
              {`Whole queue (${pending})`}
            </a>
          </p>
        </>
      )}
      <Failed what="The queue cannot be read" why={answer.failure.value} />
    </Part>
  );
}
