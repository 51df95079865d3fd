/**
 * The disk of the simulation: tables in memory with a crash line. A commit is there as a whole or not at all. It can
 * fail, the process can be killed before it or after it, and what was not committed is gone.
 */
import type { Transition } from "../../model/delivery.ts";
import { TielineError } from "../../model/errors.ts";
import { memoryStore, type MemoryTables } from "../../mailbox/memory/store.ts";
import type { Store } from "../../mailbox/store.ts";
import type { Life } from "./virtualTime.ts";

/** What happens to the next commit. */
export type CommitFault = "none" | "lost" | "killed-before" | "killed-after";

export interface StoreParts {
  readonly tables: MemoryTables;
  readonly life: Life;
  readonly fault: () => CommitFault;
  readonly kill: () => void;
  /** Told what is on the disk now. */
  readonly committed: (transitions: readonly Transition[]) => void;
}

export function crashingStore({ tables, life, fault, kill, committed }: StoreParts): Store {
  const store = memoryStore("simulated", tables);
  let pending: Transition[] = [];
  return {
    ...store,
    addTransition(transition) {
      pending.push(transition);
      store.addTransition(transition);
    },
    commit(work) {
      if (!life.alive) return;
      const what = fault();
      if (what === "killed-before") return kill();
      const before = what === "lost" ? copyOf(tables) : null;
      pending = [];
      store.commit(work);
      if (before !== null) {
        restore(tables, before);
        throw diskFailed();
      }
      committed(pending);
      // The process gets its answers, and nothing that it does with them reaches the world.
      if (what === "killed-after") kill();
    },
  };
}

const copyOf = ({ messages, byTag, deliveries, transitions }: MemoryTables): MemoryTables => ({
  messages: new Map(messages),
  byTag: new Map(byTag),
  deliveries: new Map(deliveries),
  transitions: new Map(transitions),
});

function restore(tables: MemoryTables, { messages, byTag, deliveries, transitions }: MemoryTables): void {
  refill(tables.messages, messages);
  refill(tables.byTag, byTag);
  refill(tables.deliveries, deliveries);
  refill(tables.transitions, transitions);
}

function refill<Key, Value>(map: Map<Key, Value>, from: ReadonlyMap<Key, Value>): void {
  map.clear();
  for (const [key, value] of from) map.set(key, value);
}

const diskFailed = (): TielineError =>
  new TielineError("STORE_UNAVAILABLE", "the simulated disk failed", { remedy: "it works again with the next commit" });
