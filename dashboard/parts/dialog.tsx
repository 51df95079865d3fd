import type { ComponentChildren, VNode } from "preact";
import { keepTabInside } from "../focus.ts";
import { panel } from "../state.ts";
import { Icon } from "./icons.tsx";

export interface DialogProps {
  readonly kind: string;
  readonly label: string;
  readonly title?: string;
  readonly close?: string;
  readonly children: ComponentChildren;
}

/** A panel over the page. Tab stays inside, and closing it returns the focus. */
export function Dialog({ kind, label, title = label, close = "Close", children }: DialogProps): VNode {
  return (
    <div
      class={`panel ${kind}`}
      role="dialog"
      aria-modal="true"
      aria-label={label}
      tabIndex={-1}
      onKeyDown={keepTabInside}
    >
      <header>
        <h2>{title}</h2>
        <button type="button" class="quiet" aria-label={close} onClick={() => (panel.value = null)}>
          <Icon name="close" />
        </button>
      </header>
      {children}
    </div>
  );
}
