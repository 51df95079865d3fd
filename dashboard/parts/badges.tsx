import type { VNode } from "preact";
import type { AgentView, DeliveryView } from "../../src/client/browser.ts";
import { hueOf, initialsOf } from "../agent/initials.ts";
import { askingStates } from "../state.ts";

const presenceWords = { active: "active", idle: "idle", offline: "not running", terminated: "shut down" } as const;

export function Presence({ presence }: { presence: AgentView["presence"] }): VNode {
  return (
    <span
      class={`presence ${presence}`}
      role="img"
      aria-label={presenceWords[presence]}
      title={presenceWords[presence]}
    />
  );
}

const stateWords: Partial<Record<AgentView["state"], string>> = {
  permission: "asks permission",
  question: "asks a question",
  dialog: "shows a dialog",
  limited: "at its limit",
  gone: "not running",
  unknown: "busy?",
};

export function AgentState({ agent }: { agent: AgentView }): VNode {
  const asks = (askingStates as readonly string[]).includes(agent.state);
  return <span class={`state ${agent.state} ${asks ? "asks" : ""}`}>{stateWords[agent.state] ?? agent.state}</span>;
}

/** `isOwn`: mail to the user, which waits to be read and not to be delivered. */
export function DeliveryState({
  state,
  isOwn = false,
}: {
  state: DeliveryView["state"] | "no recipients";
  isOwn?: boolean;
}): VNode {
  return (
    <span class={`delivery ${state}`}>
      <span class="steps" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {isOwn && state === "queued" ? "unread" : state}
    </span>
  );
}

export function Sparkline({ beats }: { beats: readonly number[] }): VNode {
  const most = Math.max(4, ...beats);
  const step = 100 / beats.length;
  const bars = beats
    .map((count, at) =>
      count === 0 ? "" : `M${(at * step + step / 2).toFixed(1)} 24V${(24 - (22 * count) / most).toFixed(1)}`,
    )
    .join("");
  return (
    <svg
      class="sparkline"
      viewBox="0 0 100 24"
      preserveAspectRatio="none"
      role="img"
      aria-label={`${beats.reduce((sum, one) => sum + one, 0)} events in the last half hour`}
    >
      <path d="M0 23.5H100" class="floor" />
      <path d={bars} />
    </svg>
  );
}

/** A name always has the same colour, so that the eye finds it again. */
export function Avatar({ name }: { name: string }): VNode {
  return (
    <span class="avatar" aria-hidden="true" style={{ "--hue": String(hueOf(name)) }}>
      {initialsOf(name)}
    </span>
  );
}

export function Count({ of, label }: { of: number; label: string }): VNode | null {
  return of === 0 ? null : (
    <span class="count" aria-label={`${of} ${label}`}>
      {of > 999 ? "999+" : of}
    </span>
  );
}
