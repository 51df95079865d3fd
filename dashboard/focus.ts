/** Where the keyboard is: the items of a view, and what gets the focus when the focused element disappears. */

const items = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>("main [data-item]")];

export const itemOf = (element: Element | null): HTMLElement | null =>
  element?.closest<HTMLElement>("[data-item]") ?? null;

export const focusMain = (): void => document.getElementById("main")?.focus();

/**
 * Moves the focus from item to item. Without a focused item it begins where it was last, at the open item, or at the
 * end of a list that grows at its end.
 */
export function stepItems(by: 1 | -1): HTMLElement | null {
  const all = items();
  const current = itemOf(document.activeElement);
  const open = all.find((item) => item.matches(".open"));
  const at =
    current !== null && all.includes(current)
      ? all.indexOf(current) + by
      : open !== undefined
        ? all.indexOf(open) + by
        : firstOf(all);
  const next = all[Math.min(all.length - 1, Math.max(0, at))] ?? null;
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
  return next;
}

function firstOf(all: readonly HTMLElement[]): number {
  const list = all[0]?.closest<HTMLElement>("[data-grows]");
  if (list === null || list === undefined) return 0;
  const { bottom } = list.getBoundingClientRect();
  return all.findLastIndex((item) => item.getBoundingClientRect().bottom <= bottom + 1);
}

/** When the focused element is removed, the item that takes its place gets the focus; else the view does. */
export function keepFocus(root: HTMLElement): void {
  let last: { readonly element: Element; readonly at: number; readonly list: HTMLElement | null } | null = null;
  document.addEventListener("focusin", ({ target }) => {
    if (!(target instanceof Element)) return;
    const item = target.closest("main") === null ? null : itemOf(target);
    last = { element: target, at: item === null ? -1 : items().indexOf(item), list: target.closest(".windowed") };
  });
  // A press beside it leaves it on purpose; a press on something else that takes the focus comes before that.
  document.addEventListener("pointerdown", () => (last = null));
  new MutationObserver(() => {
    if (last === null || last.element.isConnected || document.activeElement !== document.body) return;
    const { at, list } = last;
    if (list?.isConnected) return list.focus({ preventScroll: true });
    const all = items();
    const item = at < 0 ? undefined : all[Math.min(at, all.length - 1)];
    if (item === undefined) focusMain();
    else item.focus();
  }).observe(root, { childList: true, subtree: true });
}

const focusable =
  "a[href], button:not(:disabled), input:not(:disabled), select:not(:disabled), textarea:not(:disabled), summary, " +
  "[tabindex='0']";

/** Tab goes around inside a dialog. */
export function keepTabInside(event: KeyboardEvent): void {
  if (event.key !== "Tab") return;
  const dialog = event.currentTarget as HTMLElement;
  const all = [...dialog.querySelectorAll<HTMLElement>(focusable)].filter((one) => one.checkVisibility());
  const [first, last] = [all[0], all.at(-1)];
  const active = document.activeElement;
  const leaves = event.shiftKey ? active === first || active === dialog : active === last;
  if (!leaves) return;
  event.preventDefault();
  (event.shiftKey ? last : first)?.focus();
}
