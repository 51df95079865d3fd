import { computed, signal } from "@preact/signals";

export const views = ["team", "messages", "waiting", "queue", "graph", "numbers", "terminal"] as const;
export type View = (typeof views)[number];

/** `#/messages/MSG_USER_7f3a91c2`: a view, and what is open in it. */
const hash = signal(location.hash);
addEventListener("hashchange", () => (hash.value = location.hash));

const parts = computed(() => hash.value.replace(/^#\/?/, "").split("/").map(decodeURIComponent));

export const view = computed<View>(() => views.find((one) => one === parts.value[0]) ?? "team");
export const opened = computed<string | null>(() => parts.value[1] || null);

export const linkTo = (to: View, what?: string): string => `#/${to}${what === undefined ? "" : `/${encodeURIComponent(what)}`}`;

export function go(to: View, what?: string): void {
  location.hash = linkTo(to, what);
}
