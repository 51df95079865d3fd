/** What the person is writing. It survives a reload, because losing words is unforgivable. */
import { effect, signal } from "@preact/signals";
import type { AgentView, ReceiptView } from "../../src/client/browser.ts";
import { keep, read } from "../kept.ts";
import { panel } from "../state.ts";

export interface Draft {
  readonly to: string;
  readonly team: string | null;
  readonly body: string;
  readonly when: "turn" | "tool" | "interrupt";
  readonly ttl: string;
  /** The tag of the message that this one answers. */
  readonly replyTo: string | null;
}

export const emptyDraft: Draft = { to: "", team: null, body: "", when: "turn", ttl: "", replyTo: null };
export const draft = signal<Draft>({ ...emptyDraft, ...read("draft", emptyDraft) });
effect(() => keep("draft", draft.value));

/** The tags that were sent from here, newest last, so that their receipts can be watched. */
export const sent = signal<readonly string[]>([]);

export function change(fields: Partial<Draft>): void {
  draft.value = { ...draft.value, ...fields };
}

export function writeTo({ name, team }: Pick<AgentView, "name" | "team">): void {
  change({ to: name, team, replyTo: null });
  panel.value = { kind: "compose" };
}

export function replyTo({ tag, from, team }: Pick<ReceiptView, "tag" | "from"> & { team: string | null }): void {
  change({ to: from, team, replyTo: tag });
  panel.value = { kind: "compose" };
}

export function broadcast(): void {
  change({ to: "@all", team: null, replyTo: null });
  panel.value = { kind: "compose" };
}

/** Writes the same again, for whoever did not get it. */
export function resend({ to, team, body }: { to: string; team: string; body: string }): void {
  change({ to, team, body, replyTo: null });
  panel.value = { kind: "compose" };
}
