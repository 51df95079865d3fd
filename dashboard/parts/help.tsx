import type { VNode } from "preact";
import { titleOf } from "./shell.tsx";
import { Head } from "./head.tsx";
import { view, type View } from "../route.ts";

type Keys = readonly (readonly [keys: string, what: string])[];

const views: Keys = [
  ["g t", "team"],
  ["g m", "messages"],
  ["g w", "waiting for you"],
  ["g q", "queue"],
  ["g g", "graph"],
  ["g n", "numbers"],
  ["g e", "terminal"],
];

const everywhere: Keys = [
  ["c", "write a message"],
  ["b", "write to everybody"],
  ["s", "start an agent"],
  ["t", "teams"],
  ["/", "search"],
  ["j k", "next, previous"],
  ["l", "light, dark, as the system"],
  ["Ctrl Enter", "send"],
  ["Esc", "close"],
  ["?", "this list"],
];

const here: Readonly<Record<View, Keys>> = {
  team: [
    ["1 … 6", "filter"],
    ["o", "sort"],
    ["w", "write to the chosen agent"],
    ["e", "its terminal"],
    ["q", "its queue"],
    ["m", "stop, restart, resume, move …"],
  ],
  messages: [
    ["r", "reply"],
    ["u", "read, unread"],
    ["a", "agent"],
    ["o", "state"],
  ],
  waiting: [
    ["1 … 9", "choose this answer of the dialog"],
    ["a d", "approve, deny"],
    ["r", "reply"],
    ["t", "try again"],
    ["x", "read, cancel or dismiss"],
    ["e", "its terminal"],
  ],
  queue: [
    ["x", "cancel the chosen message"],
    ["t", "try again"],
    ["e", "edit and resend"],
  ],
  graph: [
    ["a", "add an edge"],
    ["Enter", "traffic of the chosen edge"],
    ["x", "remove it"],
  ],
  numbers: [],
  terminal: [
    ["i", "type into the pane"],
    ["Ctrl ]", "stop typing into it"],
    ["w", "write to the agent"],
  ],
};

export function HelpPanel(): VNode {
  const local = here[view.value];
  return (
    <div class="panel help" tabIndex={-1} role="dialog" aria-label="Keys">
      <Head title="Keys" />
      <div class="columns">
        <Section title="Go to" keys={views} />
        <Section title="Everywhere" keys={everywhere} />
        {local.length > 0 && <Section title={`In ${titleOf(view.value)}`} keys={local} />}
      </div>
    </div>
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
