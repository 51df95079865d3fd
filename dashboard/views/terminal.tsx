import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt, failureOf } from "../actions.ts";
import { writeTo } from "../compose/draft.ts";
import { AgentState, Avatar } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { linkTo, opened } from "../route.ts";
import { shownAgents } from "../state.ts";

export function TerminalView(): VNode {
  const address = opened.value;
  const those = shownAgents.value.filter(({ view }) => view.value.pane !== null);
  const cell = those.find(({ view }) => `${view.value.team}:${view.value.name}` === address);
  if (address === null || cell === undefined) {
    return (
      <section class="view terminal">
        <div class="empty">
          <h2>{those.length === 0 ? "No agent is in a pane" : "Whose terminal?"}</h2>
          <p class="actions centred">
            {those.map(({ id, view: { value } }) => (
              <a key={id} class="button" href={linkTo("terminal", `${value.team}:${value.name}`)}>
                {value.name}
              </a>
            ))}
          </p>
        </div>
      </section>
    );
  }
  const agent = cell.view.value;
  return (
    <section class="view terminal">
      <Screen key={address} team={agent.team} name={agent.name}>
        <Avatar name={agent.name} />
        <strong>{agent.name}</strong>
        <AgentState agent={agent} />
        <span class="muted">{agent.reason}</span>
        <span class="grow" />
        <button class="quiet" onClick={() => writeTo(agent)}>
          <Icon name="compose" /> Write
        </button>
      </Screen>
    </section>
  );
}

function Screen({ team, name, children }: { team: string; name: string; children: preact.ComponentChildren }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const typing = useSignal(false);
  const problem = useSignal<string | null>(null);
  const shown = useRef<{ setTyping(on: boolean): void } | null>(null);

  useEffect(() => {
    const over = new AbortController();
    // The terminal is the heaviest part of the page, so it is loaded by those who look at one.
    import("../terminal/pane.ts")
      .then(({ showPane }) => {
        if (over.signal.aborted) return;
        shown.current = showPane(box.current!, { team, agent: name, signal: over.signal, onProblem: (text) => (problem.value = text), attempt });
        shown.current.setTyping(typing.peek());
      })
      .catch((thrown: unknown) => (problem.value = failureOf(thrown).message));
    return () => over.abort();
  }, [team, name]);

  return (
    <>
      <div class="toolbar">
        {children}
        <label class="check type-through">
          <input
            type="checkbox"
            role="switch"
            checked={typing.value}
            onChange={({ currentTarget }) => {
              typing.value = currentTarget.checked;
              shown.current?.setTyping(typing.value);
            }}
          />{" "}
          Type into this pane
        </label>
      </div>
      {problem.value !== null && <p class="failure">{problem.value}</p>}
      <div class={`screen-box ${typing.value ? "typing" : ""}`} ref={box} />
      <p class="muted small">{typing.value ? `What you type goes to ${name}, key by key.` : "Read only. Nothing that you type reaches the pane."}</p>
    </>
  );
}
