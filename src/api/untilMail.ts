import type { Mailbox } from "../mailbox/port.ts";
import type { Message } from "../model/message.ts";

/** Resolves at the next change of mail that concerns the caller, or when the signal aborts. */
export function nextMail(
  mailbox: Pick<Mailbox, "onTransitions">,
  concerns: (message: Message) => boolean,
  signal: AbortSignal,
): Promise<void> {
  let changed = false;
  const watched = (message: Message): boolean => (changed ||= concerns(message));
  return untilMail(mailbox, watched, () => changed, signal);
}

/** Resolves when mail that concerns the caller has changed so that it is enough, or when the signal aborts. */
export function untilMail(
  mailbox: Pick<Mailbox, "onTransitions">,
  concerns: (message: Message) => boolean,
  isEnough: () => boolean,
  signal: AbortSignal,
): Promise<void> {
  if (isEnough() || signal.aborted) return Promise.resolve();
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = mailbox.onTransitions((changes) => {
    if (changes.some(({ message }) => concerns(message)) && isEnough()) resolve();
  });
  signal.addEventListener("abort", () => resolve(), { once: true });
  return promise.finally(stop);
}
