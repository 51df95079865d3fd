/** What tmux tells a control client on its own account. */
export type Notification =
  | { type: "output"; pane: string; bytes: Uint8Array }
  | { type: "subscription-changed"; name: string; session: string; window: string; pane: string; value: string }
  | { type: "session-changed"; session: string; name: string }
  | { type: "session-window-changed"; session: string; window: string }
  | { type: "sessions-changed" }
  | { type: "window-add"; window: string }
  | { type: "window-close"; window: string }
  | { type: "window-renamed"; window: string; name: string }
  | { type: "layout-change"; window: string }
  | { type: "pane-mode-changed"; pane: string }
  /** A client came to another session, or left. */
  | { type: "client-moved" }
  | { type: "exit"; reason: string }
  | { type: "other"; name: string; rest: string };

const outputPrefix = Buffer.from("%output ");
const space = 0x20;

/** Output is taken from the raw bytes, since a character may be split between two notifications. */
export function parseNotification(line: Buffer): Notification {
  if (line.subarray(0, outputPrefix.length).equals(outputPrefix)) return parseOutput(line);
  const text = line.toString("utf8");
  const { head, rest } = cut(text.slice(1));
  return parseNamed(head, rest);
}

function parseOutput(line: Buffer): Notification {
  const paneEnd = line.indexOf(space, outputPrefix.length);
  const pane = line.toString("latin1", outputPrefix.length, paneEnd);
  return { type: "output", pane, bytes: unescapeOctal(line.subarray(paneEnd + 1)) };
}

function parseNamed(name: string, rest: string): Notification {
  const { head: first, rest: second } = cut(rest);
  switch (name) {
    case "subscription-changed":
      return parseSubscription(rest);
    case "session-changed":
      return { type: name, session: first, name: second };
    case "session-window-changed":
      return { type: name, session: first, window: second };
    case "sessions-changed":
      return { type: name };
    case "window-add":
      return { type: name, window: first };
    case "window-close":
    case "unlinked-window-close":
      return { type: "window-close", window: first };
    case "window-renamed":
    case "unlinked-window-renamed":
      return { type: "window-renamed", window: first, name: second };
    case "layout-change":
      return { type: name, window: first };
    case "pane-mode-changed":
      return { type: name, pane: first };
    case "client-session-changed":
    case "client-detached":
      return { type: "client-moved" };
    case "exit":
      return { type: name, reason: rest };
    default:
      return { type: "other", name, rest };
  }
}

/** `name $session @window index %pane : value`, where a missing part is `-`. */
function parseSubscription(rest: string): Notification {
  const valueAt = rest.indexOf(" : ");
  const [name = "", session = "", window = "", , pane = ""] = rest.slice(0, valueAt).split(" ");
  return { type: "subscription-changed", name, session, window, pane, value: rest.slice(valueAt + 3) };
}

/** tmux writes control bytes and backslashes as `\ooo` and leaves all other bytes as they are. */
function unescapeOctal(escaped: Buffer): Uint8Array {
  const bytes = Buffer.allocUnsafe(escaped.length);
  let length = 0;
  for (let at = 0; at < escaped.length; at++) {
    const byte = escaped[at] ?? 0;
    if (byte === 0x5c && at + 3 < escaped.length) {
      bytes[length++] = Number.parseInt(escaped.toString("latin1", at + 1, at + 4), 8);
      at += 3;
    } else {
      bytes[length++] = byte;
    }
  }
  return bytes.subarray(0, length);
}

function cut(text: string): { head: string; rest: string } {
  const at = text.indexOf(" ");
  return at < 0 ? { head: text, rest: "" } : { head: text.slice(0, at), rest: text.slice(at + 1) };
}
