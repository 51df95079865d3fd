/**
 * Everything can be reached without a mouse. A control names its key in `aria-keyshortcuts`; it is pressed for the item
 * that has the focus, else for the view. Shortcuts are off in text fields, and can be switched off altogether.
 */
import { broadcast } from "./compose/draft.ts";
import { itemOf, stepItems } from "./focus.ts";
import { nextTheme } from "./parts/theme.tsx";
import { go, linkTo, opened, view, type View } from "./route.ts";
import { withSeconds } from "./times.ts";
import { panel, shortcuts, theme } from "./state.ts";

const views: Readonly<Record<string, View>> = {
  t: "team",
  m: "messages",
  w: "waiting",
  q: "queue",
  g: "graph",
  n: "numbers",
  e: "terminal",
  l: "events",
};
const patienceMs = 1_200;

export function listenToKeys(): void {
  let prefixAt = 0;
  const actions: Readonly<Record<string, () => void>> = {
    "/": () => document.getElementById("search")?.focus(),
    c: () => (panel.value = { kind: "compose" }),
    b: broadcast,
    s: () => (panel.value = { kind: "spawn" }),
    t: () => (panel.value = { kind: "teams", agent: null }),
    ".": () => (withSeconds.value = !withSeconds.value),
    l: () => (theme.value = nextTheme()),
    "?": () => (panel.value = { kind: "help" }),
    j: () => void step(1),
    k: () => void step(-1),
    Escape: leave,
  };
  document.addEventListener("keydown", (event) => {
    if (isPaletteKey(event)) {
      event.preventDefault();
      panel.value = panel.value?.kind === "palette" ? null : { kind: "palette" };
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (isWriting(event.target)) {
      if (event.key === "Escape" && panel.value !== null) panel.value = null;
      return;
    }
    if (!shortcuts.value && event.key !== "Escape") return;
    const isSecond = Date.now() - prefixAt < patienceMs;
    const target = isSecond ? views[event.key] : undefined;
    prefixAt = !isSecond && event.key === "g" ? Date.now() : 0;
    if (prefixAt > 0) return;
    const control = panel.value === null ? controlFor(event.key) : null;
    const action =
      target !== undefined ? () => go(target) : control !== null ? () => press(control) : actions[event.key];
    if (action === undefined) return;
    event.preventDefault();
    action();
  });
  document.addEventListener("pointerdown", ({ target }) => closeMenus(target));
}

/** Ctrl K, or Cmd K. In a terminal it belongs to the program there. */
function isPaletteKey({ key, ctrlKey, metaKey, altKey, shiftKey, target }: KeyboardEvent): boolean {
  const isMeant = key.toLowerCase() === "k" && ctrlKey !== metaKey && !altKey && !shiftKey;
  return isMeant && !(target instanceof Element && target.closest(".screen-box.typing") !== null);
}

/** In messages a step also shows the message, if one is open. */
async function step(by: 1 | -1): Promise<void> {
  if (view.value === "terminal") return (await import("./views/terminal.tsx")).stepTerminal(by);
  const item = stepItems(by);
  if (view.value === "messages" && opened.value !== null) item?.click();
}

function controlFor(key: string): HTMLElement | null {
  const named = `[aria-keyshortcuts~="${CSS.escape(key)}"]`;
  const inItem = itemOf(document.activeElement)?.querySelector<HTMLElement>(named) ?? null;
  if (inItem !== null) return inItem;
  return (
    [...document.querySelectorAll<HTMLElement>(`main ${named}`)].find((control) => itemOf(control) === null) ?? null
  );
}

/** A field is gone to; everything else is done. */
function press(control: HTMLElement): void {
  if (isField(control)) control.focus();
  else control.click();
}

function leave(): void {
  if (panel.value !== null) panel.value = null;
  else if (closeMenus(null)) return;
  else if (opened.value !== null) location.hash = linkTo(view.value);
}

/** Menus that are open and do not hold what was pressed; true: there was one. */
function closeMenus(pressed: EventTarget | null): boolean {
  const others = [...document.querySelectorAll("details.menu[open]")].filter(
    (menu) => !(pressed instanceof Node && menu.contains(pressed)),
  );
  for (const menu of others) {
    const held = menu.contains(document.activeElement);
    menu.removeAttribute("open");
    if (held) menu.querySelector("summary")?.focus();
  }
  return others.length > 0;
}

const isField = (element: HTMLElement): boolean =>
  ["TEXTAREA", "SELECT"].includes(element.tagName) ||
  (element instanceof HTMLInputElement && !["checkbox", "radio"].includes(element.type));

function isWriting(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement && (target.isContentEditable || isField(target) || target.closest(".xterm") !== null)
  );
}
