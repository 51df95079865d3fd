/** Everything that the page knows, in one place. Views read it; live.ts and actions.ts change it. */
import { computed, signal, type ReadonlySignal, type Signal } from "@preact/signals";
import type { AgentView, InboxView, Output, ReceiptView } from "../src/client/browser.ts";
import { kept } from "./kept.ts";

/** `stranger`: another program answers at the daemon's port. */
export type Connection = "connecting" | "live" | "away" | "stranger" | "signed out";
export const connection = signal<Connection>("connecting");
/** What the page shows may be old, and nothing can be done. */
export const isAway = computed(() => connection.value === "away" || connection.value === "stranger");
/** What waits for the user has been read from the daemon. */
export const isSettled = signal(false);
/** Why this browser is signed out, and whether it was signed in before. */
export const signedOut = signal<{ readonly reason: string; readonly isExpired: boolean }>({
  reason: "",
  isExpired: false,
});
/** Advances while the page is visible, so that ages grow. */
export const now = signal(Date.now());

export const theme = kept<"system" | "light" | "dark">("theme", "system");
const narrow = matchMedia("(max-width: 720px)");
/** The window is as wide as a phone. */
export const isNarrow = signal(narrow.matches);
narrow.addEventListener("change", () => (isNarrow.value = narrow.matches));
/** Keys without Ctrl or Alt do something outside text fields. */
export const shortcuts = kept("shortcuts", true);
/** The team that is looked at; null: all of them. */
export const team = kept<string | null>("team", null);
export const search = signal("");

/** One agent, with cells of its own: a change of one redraws one card, among hundreds. */
export interface AgentCell {
  readonly id: string;
  readonly view: Signal<AgentView>;
  readonly tool: Signal<string | null>;
  /** Its last message, sent or received, in a line. */
  readonly last: Signal<{ readonly text: string; readonly at: number } | null>;
  /** Events per minute, oldest first. */
  readonly beats: Signal<readonly number[]>;
}
export const agents = signal<readonly AgentCell[]>([]);
export const agentById = new Map<string, AgentCell>();

/** A list that keeps its identity while its content is the same, to avoid redraws. */
export function stable<Item>(compute: () => readonly Item[]): ReadonlySignal<readonly Item[]> {
  let last: readonly Item[] = [];
  return computed(() => {
    const next = compute();
    if (next.length !== last.length || next.some((item, at) => item !== last[at])) last = next;
    return last;
  });
}

export const teamNames = stable(() => [...new Set(agents.value.map(({ view }) => view.value.team))].toSorted());
export const shownAgents = stable(() =>
  agents.value.filter(({ view }) => team.value === null || view.value.team === team.value),
);
/** Whether something of this team is shown; null: it belongs to none. */
const isShown = (of: string | null): boolean => team.value === null || of === team.value;
/** The team that new things are made in. */
export const actingTeam = computed(() => team.value ?? (teamNames.value.length === 1 ? teamNames.value[0]! : null));

/** One message of the timeline. */
export interface MessageCell {
  readonly tag: string;
  readonly id: string;
  readonly receipt: Signal<ReceiptView>;
}
/** Oldest first; older ones are fetched on scrolling. */
export const timeline = signal<readonly MessageCell[]>([]);
export const messageByTag = new Map<string, MessageCell>();
export const hasOlder = signal(true);
/** Messages with a higher id are unread. Ids ascend with time. */
export const readUpTo = kept<string>("readUpTo", "");
export const unread = computed(() => {
  const rows = timeline.value;
  let count = 0;
  for (let at = rows.length - 1; at >= 0 && rows[at]!.id > readUpTo.value; at--)
    if (rows[at]!.receipt.peek().from !== "user") count++;
  return count;
});

export interface Denial {
  readonly at: number;
  readonly team: string;
  readonly from: string;
  readonly to: string;
  readonly allowed: readonly string[];
}
export const denials = signal<readonly Denial[]>([]);

/** What needs the user, apart from agents that ask: those are found by their state. */
export type Waiting = InboxView & { readonly agent: string; readonly team: string };
export const ownMail = signal<readonly InboxView[]>([]);
/**
 * Mail that the user has read and wants to find here again. The mailbox knows no way back from seen, so the page
 * remembers.
 */
export const keptUnread = kept<readonly string[]>("keptUnread", []);
/** What agents ask to be approved. Reading it does not answer it, so it is no mail here. */
export const allRequests = signal<Output<"requests">>([]);
export const requests = stable(() => allRequests.value.filter(({ team: of }) => isShown(of)));
/** The newest, and how many there are. */
export const deadLetters = signal<readonly ReceiptView[]>([]);
export const deadCount = signal(0);
/** Messages that were delivered and not confirmed read. */
export const unconfirmed = signal<readonly MessageCell[]>([]);
export const queue = signal<readonly Waiting[]>([]);
export const dismissed = kept<readonly string[]>("dismissed", []);

/** Mail that the user has answered waits in their mailbox until they read it there; here it is done. */
const answered = computed(
  () =>
    new Set(
      timeline.value.flatMap(({ receipt }) => (receipt.peek().from === "user" ? [receipt.peek().inReplyTo] : [])),
    ),
);
const isWaiting = ({ state }: InboxView): boolean => state === "queued" || state === "claimed" || state === "uncertain";
const isMail = ({ request }: InboxView): boolean => request === null;
export const openMail = stable(() =>
  ownMail.value
    .filter((mail) => isMail(mail) && isShown(mail.team))
    .filter(
      (mail) =>
        (isWaiting(mail) && !answered.value.has(mail.id) && !dismissed.value.includes(mail.tag)) ||
        keptUnread.value.includes(mail.tag),
    ),
);

export const askingStates = ["permission", "question", "dialog"] as const;
export const asking = stable(() =>
  shownAgents.value.filter(({ view }) => (askingStates as readonly string[]).includes(view.value.state)),
);
export const uncertain = stable(() =>
  queue.value.filter(
    ({ state, tag, team: of }) => state === "uncertain" && isShown(of) && !dismissed.value.includes(tag),
  ),
);
const concernsShown = ({ team: of, deliveries }: ReceiptView): boolean =>
  isShown(of) || deliveries.some((one) => isShown(one.team));
export const liveDead = stable(() =>
  deadLetters.value.filter((receipt) => concernsShown(receipt) && !dismissed.value.includes(receipt.tag)),
);
const longHeldMs = 5 * 60_000;
export const longHeld = stable(() =>
  shownAgents.value.filter(
    ({ view }) => view.value.pending > 0 && view.value.heldAt !== null && now.value - view.value.heldAt > longHeldMs,
  ),
);
/**
 * What agents were given and nothing proves that they read: one entry for an agent and a reason, however many messages.
 */
export interface Unproved {
  readonly team: string;
  readonly agent: string;
  readonly warning: string;
  /** The newest last. */
  readonly messages: readonly MessageCell[];
}
export const unprovedKey = (tag: string, agent: string): string => `${tag} ${agent}`;
export const unproved = computed((): readonly Unproved[] => {
  const groups = new Map<string, Unproved & { readonly messages: MessageCell[] }>();
  for (const message of unconfirmed.value) {
    const { deliveries, team: filed } = message.receipt.value;
    for (const { agent, warning, state, team: of } of deliveries) {
      const inTeam = of ?? filed;
      if (warning === null || state !== "delivered" || !isShown(inTeam)) continue;
      if (dismissed.value.includes(unprovedKey(message.tag, agent))) continue;
      const key = JSON.stringify([inTeam, agent, warning]);
      const group = groups.get(key) ?? { team: inTeam, agent, warning, messages: [] };
      group.messages.push(message);
      groups.set(key, group);
    }
  }
  return [...groups.values()];
});
/** Deliveries that still owe something. */
export const pendingCount = computed(() => shownAgents.value.reduce((sum, { view }) => sum + view.value.pending, 0));
export const waitingCount = computed(
  () =>
    asking.value.length +
    requests.value.length +
    openMail.value.length +
    uncertain.value.length +
    liveDead.value.length +
    longHeld.value.length +
    unproved.value.length,
);

export type Topology = Output<"topology">;
export const topologies = signal<ReadonlyMap<string, Topology>>(new Map());

/** Something that the user should be told once. */
export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly remedy: string | null;
  readonly bad: boolean;
  /** Takes back what was done. */
  readonly undo: (() => void) | null;
}
export const notices = signal<readonly Notice[]>([]);

export type AgentName = Pick<AgentView, "name" | "team">;
export type Panel =
  | { readonly kind: "compose" }
  | { readonly kind: "spawn" }
  | { readonly kind: "teams"; readonly agent: AgentName | null }
  | { readonly kind: "help" }
  | { readonly kind: "palette" }
  | null;
export const panel = signal<Panel>(null);
