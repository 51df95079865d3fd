import "@xterm/xterm/css/xterm.css";
import "./style.css";
import { effect } from "@preact/signals";
import { render, type VNode } from "preact";
import { listenToKeys } from "./keys.ts";
import { lagMs, start } from "./live.ts";
import { keepTold } from "./notify.ts";
import { Panels } from "./parts/panels.tsx";
import { Navigation, Notices, TopBar } from "./parts/shell.tsx";
import { SignIn } from "./parts/signIn.tsx";
import { view, type View } from "./route.ts";
import { connection, theme } from "./state.ts";
import { GraphView } from "./views/graph.tsx";
import { MessagesView } from "./views/messages.tsx";
import { NumbersView } from "./views/numbers.tsx";
import { QueueView } from "./views/queue.tsx";
import { TeamView } from "./views/team.tsx";
import { TerminalView } from "./views/terminal.tsx";
import { WaitingView } from "./views/waiting.tsx";

const drawn: Record<View, () => VNode> = {
  team: TeamView,
  messages: MessagesView,
  waiting: WaitingView,
  queue: QueueView,
  graph: GraphView,
  numbers: NumbersView,
  terminal: TerminalView,
};

function Page(): VNode {
  const Shown = drawn[view.value];
  if (connection.value === "signed out") return <SignIn />;
  return (
    <div class="page">
      <Navigation />
      <TopBar />
      <main id="main">
        <Shown />
      </main>
      <Panels />
      <Notices />
    </div>
  );
}

effect(() => {
  if (theme.value === "system") document.documentElement.removeAttribute("data-theme");
  else document.documentElement.dataset["theme"] = theme.value;
});
effect(() => {
  if (lagMs.value !== null) document.documentElement.dataset["lagMs"] = String(lagMs.value);
});
render(<Page />, document.getElementById("page")!);
listenToKeys();
keepTold();
await start();
