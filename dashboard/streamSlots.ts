/**
 * Browsers keep at most six connections to an address, for all tabs together, and a stream takes one for good. So only
 * some tabs have a stream of events; the others ask again and again. A visible tab goes before hidden ones.
 */

const slots = 3;

export interface StreamSlots {
  /** Works with a slot until the signal says that a visible tab needs it, and answers true; false: all are taken. */
  use(work: (needed: AbortSignal) => Promise<void>): Promise<boolean>;
}

export function streamSlots(
  locks: LockManager,
  channel: BroadcastChannel,
  page: Pick<Document, "hidden">,
): StreamSlots {
  return {
    async use(work) {
      for (let slot = 0; slot < slots; slot++) {
        const isUsed = await locks.request(`tieline stream ${slot}`, { ifAvailable: true }, async (lock) => {
          if (lock !== null) await held(work);
          return lock !== null;
        });
        if (isUsed) return true;
      }
      if (!page.hidden) channel.postMessage("a slot is needed");
      return false;
    },
  };

  async function held(work: (needed: AbortSignal) => Promise<void>): Promise<void> {
    const needed = new AbortController();
    const listen = (): void => void (page.hidden && needed.abort());
    channel.addEventListener("message", listen);
    try {
      await work(needed.signal);
    } finally {
      channel.removeEventListener("message", listen);
    }
  }
}
