import type { VNode } from "preact";
import { panel } from "../state.ts";
import { Icon } from "./icons.tsx";

/** The head of a panel. */
export function Head({ title, close = "Close" }: { title: string; close?: string }): VNode {
  return (
    <header>
      <h2>{title}</h2>
      <button type="button" class="quiet" aria-label={close} onClick={() => (panel.value = null)}>
        <Icon name="close" />
      </button>
    </header>
  );
}
