import type { Output } from "../../api/schema.ts";
import { authorOf } from "../../model/envelope.ts";
import { withoutFrames } from "../../model/frames.ts";
import type { Terminal } from "./terminal.ts";

type Readable = Pick<Output<"show">, "tag" | "from" | "body" | "reader">;

/**
 * The text of a message. The user gets it byte for byte, save on a terminal. For an agent, lines in it that look like
 * another message are quoted, and the author is printed on stderr, so that a file or a pipe gets the text alone.
 */
export async function printBody({ tag, from, body, reader }: Readable, terminal: Terminal): Promise<void> {
  const text = reader === "user" ? body : withoutFrames(body);
  const author = authorOf(from, "peer");
  if (reader === "agent" && author !== "") await terminal.complain(`[${tag} from ${from}${author}]`);
  await terminal.body(terminal.interactive && !text.endsWith("\n") ? `${text}\n` : text);
}
