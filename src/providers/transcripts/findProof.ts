import type { TranscriptProof } from "../../model/delivery.ts";
import type { Message } from "../../model/message.ts";
import type { Transcript } from "./port.ts";
import { Progress } from "./progress.ts";
import { Tail, type TailReading } from "./tail.ts";

/** How far the message has come by all that is written down. */
export async function findProof(
  { files, below, reader }: Transcript,
  message: Pick<Message, "id" | "tag">,
  options: Omit<TailReading, "lookBack"> = {},
): Promise<TranscriptProof> {
  const progress = new Progress(message);
  let proof: TranscriptProof = "none";
  for (const file of files) {
    const tail = new Tail(file.path, below, reader(), { ...options, lookBack: Number.MAX_SAFE_INTEGER });
    for await (const entry of tail.read()) {
      const news = progress.take(entry, file)?.kind;
      if (news === "answered") return "answered";
      if (news === "held") proof = "given";
      else if (news === "queued" && proof === "none") proof = "queued";
      else if (news === "discarded") proof = "none";
    }
  }
  return proof;
}
