/**
 * What the switch and an object say to each other: objects between threads, lines of JSON with a child process.
 *
 *     switch → object   init · message · result · close
 *     object → switch   ready · done · failed · send · broadcast · reply · log
 */
import { z } from "zod";
import type { Accepted, ReceivedMessage } from "./handler.ts";

export type ToObject =
  | {
      readonly type: "init";
      readonly name: string;
      readonly team: string;
      readonly options: Readonly<Record<string, unknown>>;
    }
  | ({ readonly type: "message" } & ReceivedMessage)
  /** The answer to a send, broadcast or reply that carried a `ref`. */
  | { readonly type: "result"; readonly ref: number; readonly accepted: Accepted }
  | {
      readonly type: "result";
      readonly ref: number;
      readonly error: { readonly code: string; readonly message: string };
    }
  | { readonly type: "close" };

const id = z.string();
const ref = z.number().int().optional();
const content = z.string();

export const FromObject = z.discriminatedUnion("type", [
  z.object({ type: z.literal("ready"), interface: z.unknown().optional() }),
  z.object({ type: z.literal("done"), id }),
  z.object({ type: z.literal("failed"), id: id.optional(), message: z.string(), permanent: z.boolean().optional() }),
  z.object({
    type: z.literal("send"),
    to: z.string(),
    content,
    key: z.string().min(1).max(200).optional(),
    spawn: z.boolean().optional(),
    ref,
  }),
  z.object({ type: z.literal("broadcast"), content, ref }),
  z.object({ type: z.literal("reply"), id, content, ref }),
  z.object({ type: z.literal("log"), text: z.string() }),
]);
export type FromObject = z.infer<typeof FromObject>;
export type Posting = Extract<FromObject, { type: "send" | "broadcast" | "reply" }>;
