import { connect } from "node:net";
import { TielineError } from "../../model/errors.ts";

export interface SocketMessage {
  text: string;
  /** A UUID; the session's receipts and its answers name it. */
  messageId: string;
  /** A socket of ours, to which the session writes receipts and answers. */
  replyPath?: string;
  /** `next` joins the running turn at its next tool result, `now` also cuts a reply that is being streamed. */
  priority?: "now" | "next" | "later";
}

/**
 * Writes one message to a Claude Code session's inbox socket. Resolves when the session has taken the bytes and closed
 * its side; that is no proof that the model was given them, which only the transcript shows.
 */
export async function writeToInbox(socketPath: string, message: SocketMessage, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const closed = Promise.withResolvers<void>();
  const socket = connect(socketPath);
  const abort = () => socket.destroy(signal?.reason instanceof Error ? signal.reason : new Error("aborted"));
  signal?.addEventListener("abort", abort, { once: true });
  socket.on("error", (cause) => closed.reject(unwritten(socketPath, cause)));
  socket.on("close", () => closed.resolve());
  // The session may write receipts on the same connection; unread bytes would keep it from closing.
  socket.resume();
  socket.end(`${JSON.stringify(frame(message))}\n`);
  try {
    await closed.promise;
  } finally {
    signal?.removeEventListener("abort", abort);
    socket.destroy();
  }
}

function frame({ text, messageId, replyPath, priority = "next" }: SocketMessage): Record<string, unknown> {
  return {
    type: "user",
    message: { role: "user", content: text },
    msg_id: messageId,
    uuid: messageId,
    msgV: 1,
    priority,
    ...(replyPath === undefined ? {} : { from: `uds:${replyPath}` }),
  };
}

function unwritten(socketPath: string, cause: Error): TielineError {
  const code = (cause as NodeJS.ErrnoException).code;
  const absent = code === "ENOENT" || code === "ECONNREFUSED";
  return new TielineError("DELIVERY_FAILED", `the inbox socket ${socketPath} took no message: ${cause.message}`, {
    remedy: absent ? "the session has exited; start it again" : "try again; the session may be ending",
    operands: { socketPath, absent },
    cause,
  });
}
