/** What the user is writing. It survives a reload and a restart of the daemon. */
import { signal } from "@preact/signals";
import type { AgentView, ReceiptView } from "../../src/client/browser.ts";
import { kept } from "../kept.ts";
import { panel } from "../state.ts";

export interface Draft {
  readonly to: string;
  readonly team: string | null;
  readonly body: string;
  readonly when: "turn" | "tool" | "interrupt";
  readonly ttl: string;
  /** The tag of the message that this one answers. */
  readonly replyTo: string | null;
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
  key: crypto.randomUUID(),
});
export const draft = kept<Draft>("draft", emptyDraft());

/** The tags that were sent from here, newest last, so that their receipts can be watched. */
export const sent = signal<readonly string[]>([]);

export function change(fields: Partial<Draft>): void {
  draft.value = { ...emptyDraft(), ...draft.value, ...fields, key: crypto.randomUUID() };
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

/** Sends the same text again to the recipients that did not get it. */
export function resend({ to, team, body }: { to: string; team: string; body: string }): void {
  change({ to, team, body, replyTo: null });
  panel.value = { kind: "compose" };
}
