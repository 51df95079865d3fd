import type { Trace } from "../../model/delivery.ts";
import type { Message } from "../../model/message.ts";
import type { Transcript } from "./port.ts";
import { Progress } from "./progress.ts";
import { Tail } from "./tail.ts";

/** How far the message has come by all that is written down. */
export async function traceIn(
  { files, below, reader }: Transcript,
  message: Pick<Message, "id" | "tag">,
): Promise<Trace> {
  const progress = new Progress(message);
  let trace: Trace = "none";
  for (const file of files) {
    for await (const entry of new Tail(file.path, below, reader(), Number.MAX_SAFE_INTEGER).read()) {
      const news = progress.take(entry, file)?.kind;
      if (news === "answered") return "answered";
      if (news === "held") trace = "given";
      else if (news === "queued" && trace === "none") trace = "queued";
      else if (news === "discarded") trace = "none";
    }
  }
  return trace;
}
