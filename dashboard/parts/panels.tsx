import type { VNode } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { ComposePanel } from "../compose/panel.tsx";
import { focusMain } from "../focus.ts";
import { later } from "../later.tsx";
import { panel } from "../state.ts";
import { HelpPanel } from "./help.tsx";
import { SpawnPanel } from "./spawn.tsx";
import { TeamsPanel } from "./teams.tsx";

const PalettePanel = later(() => import("../palette/palette.tsx").then((loaded) => loaded.PalettePanel));

/** Opening a panel moves the focus into it; closing it returns the focus. */
function useReturn(open: boolean): void {
  // Before the panel itself moves the focus to where its words begin.
  useLayoutEffect(() => {
    if (!open) return;
    const before = document.activeElement;
    const within = document.querySelector<HTMLElement>(".panel");
    within?.focus();
    return () => {
      if (before instanceof HTMLElement && before !== document.body && before.isConnected) before.focus();
      else focusMain();
    };
  }, [open]);
}

export function Panels(): VNode | null {
  const shown = panel.value;
  useReturn(shown !== null);
  switch (shown?.kind) {
    case "compose":
      return <ComposePanel />;
    case "spawn":
      return <SpawnPanel />;
    case "teams":
      return <TeamsPanel agent={shown.agent} />;
    case "help":
      return <HelpPanel />;
    case "palette":
      return <PalettePanel />;
    default:
      return null;
  }
}
