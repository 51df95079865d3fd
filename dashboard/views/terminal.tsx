import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt, failureOf } from "../actions.ts";
import { writeTo } from "../compose/draft.ts";
import { AgentState, Avatar } from "../parts/badges.tsx";
import { Icon } from "../parts/icons.tsx";
import { go, linkTo, opened, param, setParams } from "../route.ts";
import { shownAgents, stable, type AgentCell } from "../state.ts";
import type { HistoryState, ShownPane } from "../terminal/pane.ts";

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
  const second = those.find((one) => addressOf(one) === param("beside") && one !== cell);
  return (
    <section class={`view terminal ${second === undefined ? "" : "two"}`}>
      <AgentScreen cell={cell} onChoose={(next) => go("terminal", next)}>
        {second === undefined && those.length > 1 && <Beside first={cell} />}
      </AgentScreen>
      {second !== undefined && (
        <AgentScreen cell={second} onChoose={(next) => setParams({ beside: next })}>
          <button class="quiet" aria-label="Close the second terminal" onClick={() => setParams({ beside: null })}>
            <Icon name="close" />
          </button>
        </AgentScreen>
      )}
    </section>
  );
}

/** Opens a second terminal; the next agent is shown in it until another one is chosen. */
function Beside({ first }: { first: AgentCell }): VNode {
  const all = inPanes.value;
  const next = all[(all.indexOf(first) + 1) % all.length]!;
  return (
    <button
      class="quiet beside"
      aria-keyshortcuts="v"
      title="Two terminals side by side (v)"
      onClick={() => setParams({ beside: addressOf(next) })}
    >
      Side by side
    </button>
  );
}

interface AgentScreenProps {
  readonly cell: AgentCell;
  readonly onChoose: (address: string) => void;
  readonly children: ComponentChildren;
}

function AgentScreen({ cell, onChoose, children }: AgentScreenProps): VNode {
  const agent = cell.view.value;
  const address = addressOf(cell);
  return (
    <div class="one" role="group" aria-label={`Terminal of ${agent.name}`}>
      <Screen key={`${address} ${agent.pane}`} team={agent.team} name={agent.name}>
        <Avatar name={agent.name} />
        <select
          aria-label="Agent"
          class="title"
          value={address}
          onChange={({ currentTarget }) => onChoose(currentTarget.value)}
        >
          {inPanes.value.map((one) => (
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
        {children}
      </Screen>
    </div>
  );
}

function Screen({ team, name, children }: { team: string; name: string; children: ComponentChildren }): VNode {
  const box = useRef<HTMLDivElement>(null);
  const typing = useSignal(false);
  const problem = useSignal<string | null>(null);
  const toggle = useRef<HTMLInputElement>(null);
  const shown = useRef<ShownPane | null>(null);
  const history = useSignal<HistoryState>({ lines: 0, size: 0, isScrolled: false });

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
          onHistory: (state) => void (history.value = state),
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
      <p class="muted small below">
        <span>
          {typing.value
            ? `What you type goes to ${name}, key by key. Ctrl ] ends it.`
            : "Read only. Your keys do not reach the pane."}
        </span>
        <span class="grow" />
        <History state={history.value} onOlder={() => shown.current?.older()} onNow={() => shown.current?.toEnd()} />
      </p>
    </>
  );
}

interface HistoryProps {
  readonly state: HistoryState;
  readonly onOlder: () => void;
  readonly onNow: () => void;
}

/** Lines above the screen are asked for when one scrolls up, or by the button. */
function History({ state: { lines, size, isScrolled }, onOlder, onNow }: HistoryProps): VNode {
  return (
    <>
      <span role="status">
        {size === 0
          ? "No lines above the screen."
          : `${lines.toLocaleString()} of ${size.toLocaleString()} lines above`}
      </span>
      {size > 0 && (
        <button class="quiet small" onClick={onOlder}>
          Scroll up
        </button>
      )}
      {isScrolled && (
        <button class="quiet small" onClick={onNow}>
          Back to now
        </button>
      )}
    </>
  );
}
