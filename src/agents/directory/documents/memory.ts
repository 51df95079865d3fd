import type { Documents } from "./port.ts";

export function memoryDocuments(): Documents {
  const kinds = new Map<string, Map<string, string>>();
  return {
    all: (kind) => [...(kinds.get(kind) ?? [])].map(([key, value]) => ({ key, value: JSON.parse(value) as unknown })),
    put(kind, key, value) {
      const documents = kinds.get(kind) ?? new Map<string, string>();
      kinds.set(kind, documents.set(key, JSON.stringify(value)));
    },
    remove: (kind, key) => void kinds.get(kind)?.delete(key),
  };
}
