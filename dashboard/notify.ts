/** Tells the user what waits: in the title, and on the desktop if they want that. */
import { effect, signal } from "@preact/signals";
import { kept } from "./kept.ts";
import { titleOf } from "./parts/shell.tsx";
import { go, view } from "./route.ts";
import { asking, connection, openMail, requests, team, waitingCount } from "./state.ts";

export const notifies = kept("notifies", false, { local: true });
export const badges = kept("badges", true);
/** Why there are no desktop notifications although the user wants them. */
export const notifyProblem = signal<string | null>(null);

/** Asks the browser; what it refuses stays off, with the reason. */
export async function setNotifies(wanted: boolean): Promise<void> {
  const permission = wanted ? await permissionToNotify() : "unwanted";
  notifies.value = permission === "granted";
  notifyProblem.value = refusals[permission] ?? null;
}

const permissionToNotify = (): Promise<NotificationPermission | "unsupported"> =>
  "Notification" in window ? Notification.requestPermission() : Promise.resolve("unsupported");

const refusals: Readonly<Record<string, string>> = {
  denied: "The browser blocks notifications of this page. Allow them in its site settings, then tick the box again.",
  default: "The browser did not allow notifications. Tick the box to be asked again.",
  unsupported: "This browser has no desktop notifications.",
};

export function keepTold(): void {
  effect(() => {
    const count = badges.value && waitingCount.value > 0 ? `(${waitingCount.value}) ` : "";
    document.title =
      connection.value === "signed out" ? "Signed out · Tieline" : `${count}${titleOf(view.value)} · Tieline`;
  });
  // What the user allowed may have been taken back in the browser since.
  if (notifies.peek() && !("Notification" in window && Notification.permission === "granted")) notifies.value = false;
  let known: ReadonlySet<string> | null = null;
  let knownTeam: string | null = null;
  effect(() => {
    const needs = new Map([
      ...asking.value.map(
        ({ view: { value } }) =>
          [`${value.id} ${value.state}`, `${value.name}: ${value.reason ?? value.state}`] as const,
      ),
      ...requests.value.map(({ tag, from }) => [tag, `${from} asks for your approval`] as const),
      ...openMail.value.map(({ tag, from }) => [tag, `${from} wrote to you`] as const),
    ]);
    // What another team needs is not new because that team is shown now.
    const before = team.value === knownTeam ? known : null;
    knownTeam = team.value;
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
