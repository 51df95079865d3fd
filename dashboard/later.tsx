/** Parts whose code is loaded after the first view is drawn. Once it is there, they are drawn like any other. */
import { signal } from "@preact/signals";
import type { ComponentType, VNode } from "preact";
import { failureOf } from "./actions.ts";

const loads = new Set<() => void>();

export function later<Props extends object>(load: () => Promise<ComponentType<Props>>): (props: Props) => VNode | null {
  const part = signal<ComponentType<Props> | null>(null);
  const failure = signal<string | null>(null);
  const start = (): void => {
    loads.delete(start);
    load().then(
      (loaded) => (part.value = loaded),
      (thrown: unknown) => {
        failure.value = failureOf(thrown).message;
        loads.add(start);
      },
    );
  };
  loads.add(start);
  return function Later(props) {
    const Part = part.value;
    if (Part !== null) return <Part {...props} />;
    if (failure.value !== null)
      return <p class="failure" role="alert">{`This part of the page cannot be loaded: ${failure.value}`}</p>;
    if (loads.has(start)) start();
    return null;
  };
}

/** Loads everything that is not there yet. */
export function loadAll(): void {
  for (const start of [...loads]) start();
}
