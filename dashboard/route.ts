import { computed, signal } from "@preact/signals";
import { linkIn, type SignInLink } from "../src/client/pageProtocol.ts";

export const views = [
  "team",
  "messages",
  "waiting",
  "queue",
  "graph",
  "numbers",
  "terminal",
  "events",
  "agents",
] as const;
export type View = (typeof views)[number];

/** The link that this page was opened with. It leaves the address at once, because it works only once. */
export const signInLink = signal<SignInLink | null>(takeLink());

/** `#/messages/MSG_USER_7f3a91c2`: a view, and what is open in it. */
const hash = signal(location.hash);
addEventListener("hashchange", () => {
  signInLink.value = takeLink() ?? signInLink.peek();
  hash.value = location.hash;
});

function takeLink(): SignInLink | null {
  const link = linkIn(location.hash);
  if (link !== null) history.replaceState(null, "", "/");
  return link;
}

const parts = computed(() => hash.value.replace(/^#\/?/, "").split("/").map(decoded));

/** An address that cannot be decoded is shown as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** A page of an agent without its address is the team. */
export const view = computed<View>(() => {
  const wanted = views.find((one) => one === parts.value[0]) ?? "team";
  return wanted === "agents" && !parts.value[1] ? "team" : wanted;
});
export const opened = computed<string | null>(() => parts.value[1] || null);

export const linkTo = (to: View, what?: string): string =>
  `#/${to}${what === undefined ? "" : `/${encodeURIComponent(what)}`}`;

export function go(to: View, what?: string): void {
  location.hash = linkTo(to, what);
}
