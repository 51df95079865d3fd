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

/** `#/messages/MSG_USER_7f3a91c2?team=web&state=open`: a view, what is open in it, and its filters. */
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

const pathOf = (address: string): string => address.replace(/^#\/?/, "").split("?", 1)[0]!;
const parts = computed(() => pathOf(hash.value).split("/").map(decoded));
const query = computed(() => hash.value.split("?").slice(1).join("?"));

/** A filter in the address; null: it is not set. */
export const param = (name: string): string | null => new URLSearchParams(query.value).get(name);

/** A filter that is kept in the address, so that a reload and the browser's Back keep it. */
export interface AddressParam<Value extends string> {
  value: Value;
}

export const addressParam = <Value extends string>(
  name: string,
  values: readonly Value[],
  otherwise: Value,
): AddressParam<Value> => ({
  get value() {
    return values.find((one) => one === param(name)) ?? otherwise;
  },
  set value(wanted) {
    setParams({ [name]: wanted === otherwise ? null : wanted });
  },
});

/** `replace`: without a step that Back would return to, as for each letter of a search. */
export function setParams(changes: Readonly<Record<string, string | null>>, { replace = false } = {}): void {
  const params = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") params.delete(name);
    else params.set(name, value);
  }
  const address = withParams(`#/${pathOf(hash.peek())}`, params);
  if (address === (location.hash || "#/")) return;
  if (replace) history.replaceState(null, "", address);
  else history.pushState(null, "", address);
  hash.value = location.hash;
}

const withParams = (path: string, params: URLSearchParams): string => (params.size === 0 ? path : `${path}?${params}`);

// Going back over an address that was pushed is no change of the hash to the browser.
addEventListener("popstate", () => (hash.value = location.hash));

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

/** What every address keeps. Cards depend on this, and not on each letter of a search. */
const lasting = computed(() => {
  const chosen = param("team");
  return new URLSearchParams(chosen === null ? {} : { team: chosen }).toString();
});

/** Within a view its filters stay; the team stays everywhere. */
export function linkTo(to: View, what?: string): string {
  const params = new URLSearchParams(to === view.value ? query.value : lasting.value);
  return withParams(`#/${to}${what === undefined ? "" : `/${encodeURIComponent(what)}`}`, params);
}

export function go(to: View, what?: string): void {
  location.hash = linkTo(to, what);
}
