import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { isAway } from "../state.ts";

const patienceMs = 4_000;

export interface SureProps {
  readonly label: string;
  /** What the button says while it asks. */
  readonly really: string;
  readonly onSure: () => void;
  readonly disabled?: boolean;
}

/** For actions that cannot be undone: the first press asks, the second does it. */
export function Sure({ label, really, onSure, disabled = false }: SureProps): VNode {
  const asks = useSignal(false);
  function press(event: Event): void {
    asks.value = !asks.value;
    if (!asks.value) return onSure();
    // A menu that closes when something in it was done stays open for the second press.
    event.stopPropagation();
    setTimeout(() => (asks.value = false), patienceMs);
  }
  return (
    <button
      type="button"
      class={asks.value ? "danger asks" : "danger"}
      disabled={disabled || isAway.value}
      onClick={press}
      onBlur={() => (asks.value = false)}
    >
      {asks.value ? really : label}
    </button>
  );
}
