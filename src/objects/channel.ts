import type { FromObject, ToObject } from "./protocol.ts";

/** A running object, seen from the switch. A channel that ended never speaks again. */
export interface Channel {
  /** Never throws: what can no longer be sent is followed by `ended`. */
  send(message: ToObject): void;
  /** Ends the object whatever it is doing. `ended` follows. */
  kill(reason: string): void;
}

export interface ChannelEvents {
  said(message: FromObject): void;
  /**
   * Once, and nothing after it. `unloadable`: its code cannot be loaded, so starting it again would end the same way.
   */
  ended(reason: string, unloadable?: boolean): void;
  /** Something to write down: a broken line, a word on stderr. */
  noted(text: string): void;
}

export type OpenChannel = (events: ChannelEvents) => Channel;
