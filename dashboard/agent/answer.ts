/** What the daemon answers, asked again whenever a reason changes. The last answer stays until the next one comes. */
import { useSignal, type Signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { failureOf } from "../actions.ts";
import { connection } from "../state.ts";

export interface Answer<Value> {
  readonly value: Signal<Value | null>;
  /** Why the last question was not answered. `value` is older then. */
  readonly failure: Signal<string | null>;
}

export function useAnswer<Value>(ask: () => Promise<Value>, reasons: readonly unknown[]): Answer<Value> {
  const value = useSignal<Value | null>(null);
  const failure = useSignal<string | null>(null);
  const asked = useRef(0);
  const isLive = connection.value === "live";
  useEffect(() => {
    const mine = ++asked.current;
    if (!isLive) return;
    ask().then(
      (answer) => {
        if (mine === asked.current) [value.value, failure.value] = [answer, null];
      },
      (thrown: unknown) => {
        if (mine === asked.current) failure.value = failureOf(thrown).message;
      },
    );
    return () => void asked.current++;
  }, [isLive, ...reasons]);
  return { value, failure };
}
