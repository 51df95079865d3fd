import { useSignalEffect, useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useRef } from "preact/hooks";
import { asking, openMail, requests } from "../state.ts";

/** Tells screen readers what is new and waits for the user. */
export function Announcements(): VNode {
  const said = useSignal("");
  const known = useRef<ReadonlySet<string> | null>(null);
  useSignalEffect(() => {
    const needs = new Map([
      ...asking.value.map(({ view: { value } }) => [`${value.id} ${value.state}`, `${value.name} asks`] as const),
      ...requests.value.map(({ tag, from }) => [tag, `${from} asks for your approval`] as const),
      ...openMail.value.map(({ tag, from }) => [tag, `${from} wrote to you`] as const),
    ]);
    const before = known.current;
    known.current = new Set(needs.keys());
    if (before === null) return;
    const fresh = [...needs].filter(([key]) => !before.has(key)).map(([, text]) => text);
    if (fresh.length > 0)
      said.value = `${fresh.length === 1 ? "1 new request" : `${fresh.length} new requests`}: ${fresh.join(", ")}`;
  });
  return (
    <div class="hidden announcements" role="status">
      {said.value}
    </div>
  );
}
