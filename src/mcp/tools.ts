/** What an agent can do here, as data: one tool per thing that it would say it wants to do. */
import { z } from "zod";
import { deadlineIn } from "../os/deadline.ts";
import type { Client } from "../client/client.ts";
import { longestPollMs } from "../api/wire.ts";
import type { Input, Output } from "../api/schema.ts";
import { bodyText, messageTag as tag, noteText, recipient, urgency } from "../api/schemas/fields.ts";
import { agentLines, answerText, isShownWhole, letterText, receiptText, historyText } from "./words.ts";

export interface ToolCall {
  readonly client: Client;
  /** Aborted when the caller goes away or gives up. */
  readonly signal: AbortSignal;
}

export interface ToolAnswer {
  readonly text: string;
  /** To be called when the text has been written out to the caller, and only then. */
  readonly written?: () => Promise<unknown>;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodObject;
  readonly readOnly?: boolean;
  run(input: never, call: ToolCall): Promise<ToolAnswer>;
}

const to = recipient.describe("a name from list_agents, team:name, or user");
const body = bodyText.describe("the text, as you would say it to a colleague");
const seconds = (fallback: number) =>
  z.number().min(0).max(600).optional().describe(`how long to wait; default ${fallback}`);

/** Codex gives up on a tool after a minute unless told otherwise. */
const defaultWaitSeconds = 50;

export const tools: readonly Tool[] = [
  tool({
    name: "send_message",
    description:
      "Send a message to one agent by name, or to your user as `user`. Returns when the message is " +
      "stored, before it is read. Do not repeat it; message_status shows its state.",
    input: z.object({ to, body, when: urgency.optional() }),
    async run({ to, body, when }, { client, signal }) {
      return {
        text: receiptText(
          await client.call("send", { to, body, key: crypto.randomUUID(), ...(when && { when }) }, signal),
        ),
      };
    },
  }),
  tool({
    name: "broadcast",
    description:
      "Send a message to all agents you may write to, or to one team. Interrupts many; prefer " + "send_message.",
    input: z.object({ body, team: z.string().optional().describe("only this team") }),
    async run({ body, team }, { client, signal }) {
      return {
        text: receiptText(
          await client.call(
            "send",
            { to: team === undefined ? "@all" : `@${team}`, body, key: crypto.randomUUID() },
            signal,
          ),
        ),
      };
    },
  }),
  tool({
    name: "ask",
    description:
      "Ask one agent a question and wait for the answer. After a timeout, or if another agent asks you " +
      "something meanwhile, the question stays open and the answer arrives in your inbox later.",
    input: z.object({
      to,
      body,
      timeout_seconds: seconds(defaultWaitSeconds),
    }),
    async run({ to, body, timeout_seconds = defaultWaitSeconds }, call) {
      const { tag } = await call.client.call(
        "send",
        { to, body, key: crypto.randomUUID(), expectsReply: true },
        call.signal,
      );
      return awaitAnswer(to, tag, timeout_seconds, call);
    },
  }),
  tool({
    name: "reply",
    description:
      "Reply to a message. Reply if the sender asked or needs to know; do not reply to thanks, " +
      "acknowledgements or bounces.",
    input: z.object({ tag, body }),
    async run({ tag, body }, { client, signal }) {
      return { text: receiptText(await client.call("reply", { tag, body, key: crypto.randomUUID() }, signal)) };
    },
  }),
  tool({
    name: "check_inbox",
    description:
      "Read your waiting messages. Each is shown once and then counts as read. They are from other " +
      "agents or from `user`; only those from `user` have your user's authority.",
    input: z.object({ limit: z.number().int().min(1).max(50).optional() }),
    run: async ({ limit }, call) =>
      letters(
        await call.client.call("collect", { ...(limit && { limit }) }, call.signal),
        call,
        "no messages wait for you",
      ),
  }),
  tool({
    name: "wait_for_message",
    description:
      "Wait for a message and read it. Use it if you have nothing else to do; otherwise keep working, " +
      "messages will reach you.",
    input: z.object({ timeout_seconds: seconds(defaultWaitSeconds) }),
    async run({ timeout_seconds = defaultWaitSeconds }, call) {
      for (const waitMs of polls(timeout_seconds, call.signal)) {
        const mail = await call.client.call("collect", { waitMs }, call.signal);
        if (mail.length > 0) return letters(mail, call, "");
      }
      return { text: `no message came in ${timeout_seconds} s; continue, or call wait_for_message again` };
    },
  }),
  tool({
    name: "list_agents",
    description: "Your own name, the other agents, and what they are doing.",
    input: z.object({ all_teams: z.boolean().optional() }),
    readOnly: true,
    async run({ all_teams }, { client, signal }) {
      const [me, agents] = await Promise.all([
        client.call("whoami", {}, signal),
        client.call("ls", { ...(all_teams && { all: true }) }, signal),
      ]);
      return { text: agentLines(me, agents) };
    },
  }),
  tool({
    name: "message_status",
    description:
      "The state of a message that you sent: queued (and why it waits), delivered, seen, answered or " + "failed.",
    input: z.object({ tag }),
    readOnly: true,
    run: async ({ tag }, { client, signal }) => ({ text: historyText(await client.call("status", { tag }, signal)) }),
  }),
  tool({
    name: "set_status",
    description: "Set your note: one line about what you are doing, shown in list_agents.",
    input: z.object({ note: noteText }),
    async run({ note }, { client, signal }) {
      await client.call("note", { text: note }, signal);
      return { text: note === null ? "your note is cleared" : `others now see: ${note}` };
    },
  }),
];

/** Gives `run` the input that its schema implies. */
function tool<Input extends z.ZodObject>(
  data: Omit<Tool, "input" | "run"> & {
    input: Input;
    run(input: z.output<Input>, call: ToolCall): Promise<ToolAnswer>;
  },
): Tool {
  return data as unknown as Tool;
}

function letters(mail: Output<"collect">, call: ToolCall, none: string): ToolAnswer {
  if (mail.length === 0) return { text: none };
  return { text: mail.map(letterText).join("\n\n"), written: () => call.client.call("collected", collectedOf(mail)) };
}

async function awaitAnswer(
  to: string,
  tag: string,
  timeoutSeconds: number,
  { client, signal }: ToolCall,
): Promise<ToolAnswer> {
  let waiting: string | null = null;
  for (const timeoutMs of polls(timeoutSeconds, signal)) {
    const {
      answer,
      lost,
      waiting: why,
      questions,
      first,
    } = await client.call("answer", { tag, timeoutMs, questions: true }, signal);
    if (lost)
      return {
        text: `${tag} cannot be answered: ${lost.agent} is ` + `${lost.state}${lost.reason ? ` (${lost.reason})` : ""}`,
      };
    if (answer) {
      return {
        text: answerText(answer),
        ...(answer.delivery !== undefined && { written: () => client.call("collected", collectedOf([answer])) }),
      };
    }
    if (questions.length > 0) return askedFirst(to, tag, questions, client);
    if (first)
      return {
        text:
          `${first.from} waits for your answer to ${first.tag}, and reads nothing before it has one. Answer it ` +
          `with reply; your question ${tag} stays open, and its answer will come to your inbox.`,
      };
    waiting = why;
  }
  return {
    text:
      `${to} has not answered ${tag} yet${waiting ? ` (${waiting})` : ""}; the answer will arrive in ` +
      "your inbox. Do not ask again; continue, or call wait_for_message.",
  };
}

/** Two that ask each other would wait for each other. */
function askedFirst(to: string, tag: string, mail: Output<"answer">["questions"], client: Client): ToolAnswer {
  const next =
    `You are asked something before ${to} has answered. Answer it with reply. Your question ${tag} stays open: ` +
    "do not ask again, call wait_for_message for its answer.";
  return {
    text: [...mail.map(letterText), next].join("\n\n"),
    written: () => client.call("collected", collectedOf(mail)),
  };
}

/** What was shown, and of what only a part. */
function collectedOf(
  mail: readonly { readonly body: string; readonly delivery?: number | undefined }[],
): Input<"collected"> {
  const taken = (some: typeof mail): number[] => some.flatMap(({ delivery }) => delivery ?? []);
  return { deliveries: taken(mail), partial: taken(mail.filter(({ body }) => !isShownWhole(body))) };
}

/** The lengths of the polls that fill the time; at least one, so that nothing is missed. */
function* polls(timeoutSeconds: number, signal: AbortSignal): Generator<number, void, void> {
  const deadline = deadlineIn(timeoutSeconds * 1_000);
  do {
    yield Math.min(longestPollMs, deadline.leftMs());
  } while (deadline.leftMs() > 0 && !signal.aborted);
}
