import type { ComponentChildren, VNode } from "preact";
import { useRef } from "preact/hooks";
import { Icon } from "./icons.tsx";

/** A button with a list of actions. Arrows move through it, Esc closes it and returns the focus. */
export function Menu({ label, children }: { label: string; children: ComponentChildren }): VNode {
  const details = useRef<HTMLDetailsElement>(null);
  const buttons = (): HTMLButtonElement[] => [
    ...details.current!.querySelectorAll<HTMLButtonElement>(".items button:not(:disabled)"),
  ];
  const close = (): void => {
    details.current!.open = false;
    details.current!.querySelector("summary")!.focus();
  };
  function onKey(event: KeyboardEvent): void {
    if (!details.current!.open) return;
    const all = buttons();
    const at = all.indexOf(document.activeElement as HTMLButtonElement);
    const targets: Readonly<Record<string, number>> = {
      ArrowDown: (at + 1) % all.length,
      ArrowUp: (Math.max(at, 0) + all.length - 1) % all.length,
      Home: 0,
      End: all.length - 1,
    };
    const target = targets[event.key];
    if (target !== undefined) all[target]?.focus();
    else if (event.key === "Escape") close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <details
      class="menu"
      ref={details}
      onKeyDown={onKey}
      onToggle={() => details.current!.open && buttons()[0]?.focus()}
    >
      <summary aria-label={label} title="More (m)" aria-keyshortcuts="m">
        <Icon name="more" />
      </summary>
      <div class="items" onClick={close}>
        {children}
      </div>
    </details>
  );
}
