/** Messages that the user has selected, to do the same to all of them. */
import { signal } from "@preact/signals";

export interface Selection {
  readonly keys: ReadonlySet<string>;
  has(key: string): boolean;
  /** `among`: the rows in their order. A range reaches from the last one that was selected to this one. */
  toggle(key: string, among: readonly string[], isRange: boolean): void;
  set(keys: Iterable<string>): void;
  clear(): void;
}

export function selection(): Selection {
  const chosen = signal<ReadonlySet<string>>(new Set());
  let anchor: string | null = null;
  return {
    get keys() {
      return chosen.value;
    },
    has: (key) => chosen.value.has(key),
    toggle(key, among, isRange) {
      const next = new Set(chosen.peek());
      const [from, to] = [anchor === null ? -1 : among.indexOf(anchor), among.indexOf(key)];
      if (isRange && from >= 0 && to >= 0)
        for (const one of among.slice(Math.min(from, to), Math.max(from, to) + 1)) next.add(one);
      else if (!next.delete(key)) next.add(key);
      anchor = key;
      chosen.value = next;
    },
    set: (keys) => void (chosen.value = new Set(keys)),
    clear() {
      anchor = null;
      chosen.value = new Set();
    },
  };
}
