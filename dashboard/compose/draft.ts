/** What the user is writing. It survives a reload and a restart of the daemon. */
import { signal } from "@preact/signals";
import type { AgentView, ReceiptView } from "../../src/client/browser.ts";
import { kept } from "../kept.ts";
import { panel } from "../state.ts";

export interface Replaced {
  readonly tag: string;
  readonly agent: string;
  readonly team: string;
}

export interface Draft {
  readonly to: string;
  readonly team: string | null;
  readonly body: string;
  readonly when: "turn" | "tool" | "interrupt";
  readonly ttl: string;
  /** The tag of the message that this one answers. */
  readonly replyTo: string | null;
  /** The queued message that is cancelled once this one is sent. */
  readonly replaces: Replaced | null;
  /** What sending it is known by, so that sending it again after a failure is not a second message. */
  readonly key: string;
}

export const emptyDraft = (): Draft => ({
  to: "",
  team: null,
  body: "",
  when: "turn",
  ttl: "",
  replyTo: null,
  replaces: null,
  key: crypto.randomUUID(),
});
export const draft = kept<Draft>("draft", emptyDraft());

/** The tags that were sent from here, newest last, so that their receipts can be watched. */
export const sent = signal<readonly string[]>([]);

export function change(fields: Partial<Draft>): void {
  draft.value = { ...emptyDraft(), ...draft.value, ...fields, key: crypto.randomUUID() };
}

export function writeTo({ name, team }: Pick<AgentView, "name" | "team">): void {
  change({ to: name, team, replyTo: null, replaces: null });
  panel.value = { kind: "compose" };
}

export function replyTo({ tag, from, team }: Pick<ReceiptView, "tag" | "from"> & { team: string | null }): void {
  change({ to: from, team, replyTo: tag, replaces: null });
  panel.value = { kind: "compose" };
}

export function broadcast(): void {
  change({ to: "@all", team: null, replyTo: null, replaces: null });
  panel.value = { kind: "compose" };
}

export interface Resend {
  readonly to: string;
  readonly team: string;
  readonly body: string;
  readonly replaces?: Replaced;
}

/** Writes the same text again. What it replaces stays queued until the new message is sent. */
export function resend({ to, team, body, replaces }: Resend): void {
  change({ to, team, body, replyTo: null, replaces: replaces ?? null });
  panel.value = { kind: "compose" };
}
