import type { Mailbox } from "../mailbox/port.ts";
import type { Message } from "../model/message.ts";

/** Resolves when mail that concerns the caller has changed so that it is enough, or when the signal aborts. */
export function untilMail(mailbox: Pick<Mailbox, "onTransitions">, concerns: (message: Message) => boolean, isEnough: () => boolean, signal: AbortSignal): Promise<void> {
  if (isEnough() || signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = mailbox.onTransitions((changes) => {
    if (changes.some(({ message }) => concerns(message)) && isEnough()) resolve();
  });
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(stop);
}
