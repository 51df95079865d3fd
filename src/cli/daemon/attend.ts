/**
 * Waiting for the daemon without trusting it: a call that takes longer than a moment is watched, so that a daemon that
 * was stopped or hangs is noticed within seconds, however long the call itself may take.
 */
import { deadlineOf } from "../../client/deadlines.ts";
import type { Home } from "../../client/home.ts";
import type { OperationName } from "../../api/schema.ts";
import type { TielineError } from "../../model/errors.ts";
import type { UntilStalled } from "./stall.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

/** Nearly every call is answered by then, and costs nothing but a timer. */
export const momentMs = 1_000;

export interface Attended {
  readonly home: Home;
  readonly name: OperationName;
  readonly input: object;
  readonly signal?: AbortSignal | undefined;
  readonly timers?: Pick<Timers, "after">;
}

export async function attended<Result>(
  { home, name, input, signal, timers = systemTimers }: Attended,
  call: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const over = new AbortController();
  const { promise: givenUp, reject } = Promise.withResolvers<never>();
  using _timer = timers.after(
    momentMs,
    () => void untilStalled(home, deadlineOf(name, input), over.signal, name).then(reject, reject),
  );
  try {
    return await Promise.race([call(signal ? AbortSignal.any([signal, over.signal]) : over.signal), givenUp]);
  } finally {
    over.abort();
  }
}

/** The same for a stream of events, which has no end of its own: throws when the daemon hangs. */
export async function* attendedStream<Event>(
  home: Home,
  stop: AbortSignal,
  open: (signal: AbortSignal) => AsyncIterable<Event>,
): AsyncGenerator<Event, void, void> {
  const over = new AbortController();
  let stalled: TielineError | null = null;
  void untilStalled(home, Number.POSITIVE_INFINITY, over.signal, "events").then((error) => {
    stalled = error;
    over.abort();
  });
  try {
    yield* open(AbortSignal.any([stop, over.signal]));
  } finally {
    over.abort();
  }
  if (stalled !== null) throw stalled;
}

const untilStalled: UntilStalled = async (...args) => (await import("./stall.ts")).untilStalled(...args);
