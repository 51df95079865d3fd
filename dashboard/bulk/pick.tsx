import type { VNode } from "preact";

export interface PickBoxProps {
  readonly isPicked: boolean;
  readonly label: string;
  /** With Shift: everything from the last one to this one. */
  readonly onPick: (isRange: boolean) => void;
}

/** Selects a row. The selection decides what is checked, so that a range can be selected at once. */
export function PickBox({ isPicked, label, onPick }: PickBoxProps): VNode {
  return (
    <input
      class="pick"
      type="checkbox"
      aria-label={label}
      aria-keyshortcuts="v"
      title="Select (v); with Shift, a range"
      checked={isPicked}
      onClick={(event) => onPick(event.shiftKey)}
    />
  );
}
