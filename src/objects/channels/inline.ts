import type { OpenChannel } from "../channel.ts";
import type { ObjectHandler } from "../handler.ts";
import type { ToObject } from "../protocol.ts";
import { serve } from "../serve.ts";

/** A handler in the switch's own thread: for those that come with it, because nothing could end one that hangs. */
export function inline(make: () => ObjectHandler): OpenChannel {
  return (events) => {
    let alive = true;
    const end = (reason: string): void => {
      if (!alive) return;
      alive = false;
      events.ended(reason);
    };
    const handler = make();
    const hear = serve(
      handler,
      (message) => alive && events.said(message),
      () => end("closed"),
    );
    return {
      send: (message: ToObject) => alive && hear(message),
      kill(reason) {
        void Promise.resolve(handler.close?.()).catch((thrown: unknown) => events.noted(`close: ${String(thrown)}`));
        end(reason);
      },
    };
  };
}
