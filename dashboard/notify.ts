/** Tells the user what waits: in the title, and on the desktop if they want that. */
import { effect } from "@preact/signals";
import { kept } from "./kept.ts";
import { titleOf } from "./parts/shell.tsx";
import { go, view } from "./route.ts";
import { asking, connection, openMail, requests, waitingCount } from "./state.ts";

export const notifies = kept("notifies", false, { local: true });
export const badges = kept("badges", true);

export function keepTold(): void {
  effect(() => {
    const count = badges.value && waitingCount.value > 0 ? `(${waitingCount.value}) ` : "";
    document.title =
      connection.value === "signed out" ? "Signed out · Tieline" : `${count}${titleOf(view.value)} · Tieline`;
  });
  let known: ReadonlySet<string> | null = null;
  effect(() => {
    const needs = new Map([
      ...asking.value.map(
        ({ view: { value } }) =>
          [`${value.id} ${value.state}`, `${value.name}: ${value.reason ?? value.state}`] as const,
      ),
      ...requests.value.map(({ tag, from }) => [tag, `${from} asks for your approval`] as const),
      ...openMail.value.map(({ tag, from }) => [tag, `${from} wrote to you`] as const),
    ]);
    const before = known;
    known = new Set(needs.keys());
    if (before === null || !notifies.value || !document.hidden) return;
    for (const [key, text] of needs) if (!before.has(key)) notify(key, text);
  });
}

function notify(tag: string, text: string): void {
  const notification = new Notification("Tieline", { body: text, tag });
  notification.addEventListener("click", () => {
    window.focus();
    go("waiting");
  });
}
