/** What this browser remembers between visits. A browser that keeps nothing, as in a private window, still works. */
import { effect, signal, type Signal } from "@preact/signals";

const prefix = "tieline.";

export function read<Value>(key: string, otherwise: Value): Value {
  try {
    const text = localStorage.getItem(prefix + key);
    return text === null ? otherwise : (JSON.parse(text) as Value);
  } catch {
    return otherwise;
  }
}

export function keep(key: string, value: unknown): void {
  try {
    if (value === null) localStorage.removeItem(prefix + key);
    else localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden; what was to be kept lives as long as the page.
  }
}

export function kept<Value>(key: string, otherwise: Value): Signal<Value> {
  const cell = signal(read(key, otherwise));
  effect(() => keep(key, cell.value));
  return cell;
}
