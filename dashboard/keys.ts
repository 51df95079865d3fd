/** Everything can be reached without a mouse. Keys mean nothing while somebody writes. */
import { go, linkTo, opened, view, type View } from "./route.ts";
import { panel } from "./state.ts";
import { step } from "./views/messages.tsx";

const views: Readonly<Record<string, View>> = { t: "team", m: "messages", w: "waiting", q: "queue", g: "graph", n: "numbers", e: "terminal" };
const patienceMs = 1_200;

export function listenToKeys(): void {
  let prefixAt = 0;
  const actions: Readonly<Record<string, () => void>> = {
    "/": () => document.getElementById("search")?.focus(),
    c: () => (panel.value = { kind: "compose" }),
    s: () => (panel.value = { kind: "spawn" }),
    "?": () => (panel.value = { kind: "help" }),
    r: () => document.getElementById("reply")?.click(),
    j: () => view.value === "messages" && step(1),
    k: () => view.value === "messages" && step(-1),
    Escape: leave,
  };
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isWriting(event.target)) {
      if (event.key === "Escape" && panel.value !== null) panel.value = null;
      return;
    }
    const isSecond = Date.now() - prefixAt < patienceMs;
    const target = isSecond ? views[event.key] : undefined;
    prefixAt = !isSecond && event.key === "g" ? Date.now() : 0;
    if (prefixAt > 0) return;
    const action = target === undefined ? actions[event.key] : () => go(target);
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
}

function leave(): void {
  if (panel.value !== null) panel.value = null;
  else if (opened.value !== null) location.hash = linkTo(view.value);
}

function isWriting(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest(".xterm") !== null);
}
