import "@xterm/xterm/css/xterm.css";
import "./style/page.css";
import { effect } from "@preact/signals";
import { render, type VNode } from "preact";
import { keepFocus } from "./focus.ts";
import { keepInAddress } from "./filters.ts";
import { listenToKeys } from "./keys.ts";
import { Announcements } from "./parts/announcements.tsx";
import { later, loadAll } from "./later.tsx";
import { lagMs, start } from "./live.ts";
import { keepTold } from "./notify.ts";
import { Panels } from "./parts/panels.tsx";
import { AwayBanner, Navigation, Notices, SkipLink, titleOf, TopBar } from "./parts/shell.tsx";
import { SignIn } from "./parts/signIn.tsx";
import { view, type View } from "./route.ts";
import { connection, theme } from "./state.ts";
import { TeamView } from "./views/team.tsx";

const drawn: Record<View, (props: object) => VNode | null> = {
  team: TeamView,
  messages: later(() => import("./views/messages.tsx").then((loaded) => loaded.MessagesView)),
  waiting: later(() => import("./views/waiting.tsx").then((loaded) => loaded.WaitingView)),
  queue: later(() => import("./views/queue.tsx").then((loaded) => loaded.QueueView)),
  graph: later(() => import("./views/graph.tsx").then((loaded) => loaded.GraphView)),
  numbers: later(() => import("./views/numbers.tsx").then((loaded) => loaded.NumbersView)),
  events: later(() => import("./views/events.tsx").then((loaded) => loaded.EventsView)),
  agents: later(() => import("./views/agent.tsx").then((loaded) => loaded.AgentPage)),
  terminal: later(() => import("./views/terminal.tsx").then((loaded) => loaded.TerminalView)),
};

function Page(): VNode {
  const Shown = drawn[view.value];
  if (connection.value === "signed out") return <SignIn />;
  return (
    <div class="page">
      <SkipLink />
      <Navigation />
      <TopBar />
      <main id="main" tabIndex={-1} aria-label={titleOf(view.value)}>
        <AwayBanner />
        <Shown />
      </main>
      <Panels />
      <Notices />
      <Announcements />
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
keepInAddress();
listenToKeys();
keepFocus(document.getElementById("page")!);
keepTold();
requestIdleCallback(loadAll);
await start();
