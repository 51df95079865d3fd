import type { VNode } from "preact";
import { titleOf } from "./shell.tsx";
import { Dialog } from "./dialog.tsx";
import { view, type View } from "../route.ts";
import { shortcuts } from "../state.ts";

type Keys = readonly (readonly [keys: string, what: string])[];

const views: Keys = [
  ["g t", "team"],
  ["g m", "messages"],
  ["g w", "waiting for you"],
  ["g q", "queue"],
  ["g g", "graph"],
  ["g n", "numbers"],
  ["g e", "terminal"],
  ["g l", "events"],
];

const everywhere: Keys = [
  ["c", "write a message"],
  ["b", "write to all agents"],
  ["s", "start an agent"],
  ["t", "teams"],
  ["Ctrl K", "go to an agent, a message, an action"],
  ["/", "search"],
  ["j k", "next, previous"],
  ["l", "theme"],
  [".", "seconds"],
  ["Ctrl Enter", "send"],
  ["Esc", "close"],
  ["?", "this list"],
];

const here: Readonly<Record<View, Keys>> = {
  team: [
    ["1 … 6", "filter"],
    ["o", "sort"],
    ["w", "write to the selected agent"],
    ["a", "its page"],
    ["e", "its terminal"],
    ["q", "its queue"],
    ["m", "stop, restart, resume, move …"],
  ],
  messages: [
    ["r", "reply"],
    ["u", "mark as read or unread"],
    ["a", "agent"],
    ["o", "state"],
  ],
  waiting: [
    ["1 … 9", "answer the dialog"],
    ["n", "show new requests"],
    ["a d", "approve, deny"],
    ["r", "reply"],
    ["t", "retry"],
    ["x", "mark as read, cancel or dismiss"],
    ["e", "its terminal"],
  ],
  queue: [
    ["x", "cancel the selected message"],
    ["v", "select it, to cancel or retry many"],
    ["t", "retry"],
    ["e", "edit and resend"],
  ],
  graph: [
    ["a", "add an edge"],
    ["Enter", "traffic of the selected edge"],
    ["x", "remove it"],
  ],
  numbers: [],
  terminal: [
    ["i", "type into the pane"],
    ["Ctrl ]", "stop typing"],
    ["v", "two terminals side by side"],
    ["w", "write to the agent"],
  ],
  events: [
    ["o", "kind"],
    ["a", "agent"],
    ["p", "pause, continue"],
  ],
  agents: [
    ["w", "write to the agent"],
    ["e", "its terminal"],
    ["q", "its queue"],
  ],
};

export function HelpPanel(): VNode {
  const local = here[view.value];
  return (
    <Dialog kind="help" label="Shortcuts">
      <label class="check">
        <input
          type="checkbox"
          role="switch"
          checked={shortcuts.value}
          onChange={({ currentTarget }) => (shortcuts.value = currentTarget.checked)}
        />{" "}
        Use single-key shortcuts
      </label>
      <div class="columns">
        <Section title="Go to" keys={views} />
        <Section title="Everywhere" keys={everywhere} />
        {local.length > 0 && <Section title={`In ${titleOf(view.value)}`} keys={local} />}
      </div>
    </Dialog>
  );
}

const Section = ({ title, keys }: { title: string; keys: Keys }): VNode => (
  <section>
    <h3>{title}</h3>
    <dl>
      {keys.map(([key, what]) => (
        <div key={key}>
          <dt>{key.split(" ").map((one) => (one === "…" ? <span key={one}>…</span> : <kbd key={one}>{one}</kbd>))}</dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </section>
);
