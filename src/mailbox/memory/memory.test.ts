import { mailboxContract } from "../../testing/mailboxContract.ts";
import { openMailbox } from "../mailbox.ts";
import { memoryStore } from "./store.ts";

mailboxContract("memory", async (clock) => {
  const mailbox = openMailbox(memoryStore(), { clock });
  return { mailbox, cleanUp: async () => mailbox[Symbol.asyncDispose]() };
});
