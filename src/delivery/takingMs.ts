import type { Message } from "../model/message.ts";

/** Characters in a millisecond that even a busy program on a busy machine takes in. */
const slowestRate = 50;

/** How long a program may need to take in a text. Before that, a text that does not show may still be on its way. */
export const takingMs = ({ body }: Pick<Message, "body">): number => body.length / slowestRate;
