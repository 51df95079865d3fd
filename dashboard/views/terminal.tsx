import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt, failureOf } from "../actions.ts";
import { writeTo } from "../compose/draft.ts";
import { AgentState, Avatar } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { go, linkTo, opened } from "../route.ts";
import { shownAgents, stable, type AgentCell } from "../state.ts";

const inPanes = stable(() => shownAgents.value.filter(({ view }) => view.value.pane !== null));
const addressOf = ({ view: { value } }: AgentCell): string => `${value.team}:${value.name}`;

/** For the keys j and k. */
export function stepTerminal(by: number): void {
  const all = inPanes.peek();
  const at = all.findIndex((cell) => addressOf(cell) === opened.peek());
  const next = all[at < 0 ? 0 : (at + by + all.length) % all.length];
  if (next) go("terminal", addressOf(next));
}

export function TerminalView(): VNode {
  const address = opened.value;
  const those = inPanes.value;
  const cell = those.find((one) => addressOf(one) === address);
  if (address === null || cell === undefined) {
    return (
      <section class="view terminal">
        <div class="empty">
          <h2>{those.length === 0 ? "No agent is in a pane" : "Choose an agent"}</h2>
          <p class="actions centred">
            {those.map((one) => (
              <a key={one.id} class="button" href={linkTo("terminal", addressOf(one))}>
                {one.view.value.name}
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
      <Screen key={`${address} ${agent.pane}`} team={agent.team} name={agent.name}>
        <Avatar name={agent.name} />
        <select
          aria-label="Agent"
          class="title"
          value={address}
          onChange={({ currentTarget }) => go("terminal", currentTarget.value)}
        >
          {those.map((one) => (
            <option key={one.id} value={addressOf(one)}>
              {one.view.value.name}
            </option>
          ))}
        </select>
        <AgentState agent={agent} />
        <span class="muted reason">{agent.reason}</span>
        <span class="grow" />
        <button class="quiet" onClick={() => writeTo(agent)} aria-keyshortcuts="w" title="Write (w)">
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
  const toggle = useRef<HTMLInputElement>(null);
  const shown = useRef<{ setTyping(on: boolean): void } | null>(null);

  useEffect(() => {
    const over = new AbortController();
    // The terminal is the heaviest part of the page, so it is loaded by those who look at one.
    import("../terminal/pane.ts")
      .then(({ showPane }) => {
        if (over.signal.aborted) return;
        const onProblem = (text: string | null): void => void (problem.value = text);
        shown.current = showPane(box.current!, {
          team,
          agent: name,
          signal: over.signal,
          onProblem,
          attempt,
          onLeave: () => setTyping(false),
        });
        shown.current.setTyping(typing.peek());
      })
      .catch((thrown: unknown) => (problem.value = failureOf(thrown).message));
    return () => over.abort();
  }, [team, name]);

  function setTyping(on: boolean): void {
    typing.value = on;
    shown.current?.setTyping(on);
    if (!on) toggle.current?.focus();
  }

  return (
    <>
      <div class="toolbar">
        {children}
        <label class="check type-through">
          <input
            type="checkbox"
            role="switch"
            ref={toggle}
            aria-keyshortcuts="i"
            checked={typing.value}
            onChange={({ currentTarget }) => setTyping(currentTarget.checked)}
          />{" "}
          Type into this pane
        </label>
      </div>
      {problem.value !== null && (
        <p class="failure" role="alert">
          {problem.value}
        </p>
      )}
      <div class={`screen-box ${typing.value ? "typing" : ""}`} ref={box} />
      <p class="muted small">
        {typing.value
          ? `What you type goes to ${name}, key by key. Ctrl ] ends it.`
          : "Read only. Your keys do not reach the pane."}
      </p>
    </>
  );
}
