import type { Clock } from "../../model/ids.ts";
import { mailboxContract, type MailboxUnderTest } from "../../testing/mailboxContract.ts";
import { mailboxTimeContract } from "../../testing/mailboxTimeContract.ts";
import { openMailbox } from "../mailbox.ts";
import { memoryStore } from "./store.ts";

const open = async (clock: Clock): Promise<MailboxUnderTest> => {
  const mailbox = openMailbox(memoryStore(), { clock });
  return { mailbox, cleanUp: async () => mailbox[Symbol.asyncDispose]() };
};

mailboxContract("memory", open);
mailboxTimeContract("memory", open);
