import type { VNode } from "preact";
import { theme } from "../state.ts";
import { Icon } from "./icons.tsx";

const themes = ["system", "light", "dark"] as const;
const icons = { system: "system", light: "sun", dark: "moon" } as const;
const labels = { system: "System", light: "Light", dark: "Dark" } as const;

export const nextTheme = (): (typeof themes)[number] => themes[(themes.indexOf(theme.value) + 1) % themes.length]!;

export function ThemeSwitch({ kind }: { kind: "nav" | "quiet" }): VNode {
  const says = `Theme: ${labels[theme.value]}. Change to ${labels[nextTheme()]}.`;
  return (
    <button class={`${kind} theme`} onClick={() => (theme.value = nextTheme())} title={`${says} (l)`} aria-label={says}>
      <Icon name={icons[theme.value]} />
      <span class="label">{kind === "nav" ? `Theme: ${labels[theme.value]}` : labels[theme.value]}</span>
    </button>
  );
}
