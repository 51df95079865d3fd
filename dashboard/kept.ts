/**
 * What the page remembers between visits: in this browser at once, and with the daemon a moment later, because the page
 * has another address, with nothing stored, after a restart of the daemon.
 */
import { effect, signal, type Signal } from "@preact/signals";
import type { Output } from "../src/client/browser.ts";
import { inTeam } from "./api.ts";

const prefix = "tieline.";
const pushDelayMs = 500;

type Values = Output<"preferences">;
type Json = Values[string];

interface Remembered {
  readonly cell: Signal<Json>;
  /** Nothing was stored here when the page was loaded. */
  readonly isNew: boolean;
}

const remembered = new Map<string, Remembered>();
const changed = new Set<string>();
let isAdopted = false;
let pushing: Timer | null = null;

type Timer = ReturnType<typeof setTimeout>;

/** `local`: only in this browser, for what is about the browser. */
export function kept<Value>(key: string, otherwise: Value, { local = false }: { local?: boolean } = {}): Signal<Value> {
  const stored = read<Value>(key);
  const cell = signal(stored ?? otherwise);
  if (!local) remembered.set(key, { cell: cell as Signal<Json>, isNew: stored === null });
  let isFirst = true;
  effect(() => {
    const { value } = cell;
    if (!isFirst) keep(key, value, local);
    isFirst = false;
  });
  return cell;
}

/** Takes over what the daemon remembers, where this browser has nothing of its own. */
export function adopt(values: Values): void {
  if (isAdopted) return;
  for (const [key, { cell, isNew }] of remembered)
    if (isNew && !changed.has(key) && Object.hasOwn(values, key)) cell.value = values[key]!;
  changed.clear();
  isAdopted = true;
}

function read<Value>(key: string): Value | null {
  try {
    return JSON.parse(localStorage.getItem(prefix + key) ?? "null") as Value | null;
  } catch {
    // Storage is forbidden, or holds what is not ours.
    return null;
  }
}

function keep(key: string, value: unknown, local: boolean): void {
  try {
    localStorage.setItem(prefix + key, JSON.stringify(value));
  } catch {
    // Storage is full or forbidden; what was to be kept lives as long as the page.
  }
  if (local) return;
  changed.add(key);
  pushing ??= setTimeout(push, pushDelayMs);
}

function push(): void {
  clearTimeout(pushing ?? undefined);
  pushing = null;
  if (!isAdopted || changed.size === 0) return;
  const keys = [...changed];
  changed.clear();
  const values = Object.fromEntries(keys.map((key) => [key, remembered.get(key)!.cell.peek()]));
  // What the daemon cannot take now goes with the next change; this browser has it meanwhile.
  inTeam(null)
    .call("preferencesSet", { values })
    .catch(() => keys.forEach((key) => changed.add(key)));
}

document.addEventListener("visibilitychange", () => document.hidden && push());
