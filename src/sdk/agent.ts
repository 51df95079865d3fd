// Programs that use the SDK need not have these types themselves.
/// <reference lib="esnext.disposable" preserve="true" />
import { createClient, type Client, type DaemonAddress } from "../client/client.ts";
import { longestPollMs } from "../api/wire.ts";
import type { Caller, InboxView, Input, Output, ReceiptView, HistoryView } from "../api/schema.ts";
import { streamEvents, type StreamedEvent, type StreamOptions } from "../client/stream.ts";
import { TielineError } from "../model/errors.ts";
import { deadlineIn } from "../os/deadline.ts";
import { uuidv4 } from "../model/ids.ts";
import { systemTimers } from "../os/timers.ts";

export type SendOptions = Omit<Input<"send">, "to" | "body" | "replyTo">;

export interface AskOptions {
  /** How long to wait; 10 minutes when left out. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal;
  /**
   * Called for what agents ask this one while it waits, which may be the one that it asks. A text that it returns is
   * sent back as the answer. Without it, `ask` rejects when both would wait for each other.
   */
  readonly onQuestion?: (question: Letter) => Promise<string | void> | string | void;
}

export interface Answer {
  readonly tag: string;
  readonly from: string;
  readonly body: string;
}

/** A message for this agent. */
export interface Letter extends Omit<InboxView, "delivery"> {
  reply(body: string): Promise<ReceiptView>;
  /** Says now that it was read; otherwise the loop says so when it asks for the next one. */
  seen(): Promise<void>;
}

export interface NewObject {
  readonly name: string;
  readonly role?: string;
  /** Called for one message at a time. A text that it returns is sent back as the answer. */
  onMessage(message: Letter, object: ConnectedAgent): Promise<string | void> | string | void;
}

export interface RegisteredObject extends AsyncDisposable {
  readonly object: ConnectedAgent;
  /** Rejects with what `onMessage` threw, after which the object stops answering; resolves after `stop`. */
  readonly stopped: Promise<void>;
  stop(): void;
}

/** A participant: this program, or one that it registered. */
export interface ConnectedAgent {
  /** Every operation of the API, typed. */
  readonly client: Client;
  /** Proves who this is, to connect again later; none when the process itself is known. */
  readonly token: string | undefined;
  whoami(): Promise<Output<"whoami">>;
  /** Resolves once the message is on disk. */
  send(to: string, body: string, options?: SendOptions): Promise<ReceiptView>;
  /** To all agents that this agent may write to. */
  broadcast(body: string, options?: SendOptions): Promise<ReceiptView>;
  /**
   * Rejects with NOT_IN_TIME without an answer in time, DELIVERY_FAILED when none is possible, QUESTION_WAITING when a
   * question to this agent, named in the operands, has to be answered first.
   */
  ask(to: string, body: string, options?: AskOptions): Promise<Answer>;
  reply(message: { readonly tag: string }, body: string, options?: SendOptions): Promise<ReceiptView>;
  status(message: { readonly tag: string }): Promise<HistoryView>;
  /**
   * The mail of this agent, as it comes, until the signal. A message counts as seen when the loop asks for the next
   * one; a loop that ends in the middle of one leaves it uncertain, unless it said `seen` itself.
   */
  inbox(options?: { readonly signal?: AbortSignal }): AsyncGenerator<Letter, void, void>;
  /** What happens, each event once and in order, also over a restart of the daemon. */
  events(options?: StreamOptions, signal?: AbortSignal): AsyncGenerator<StreamedEvent, void, void>;
  /** A new agent that this program speaks for. The same name again is the same agent. */
  registerAgent(agent: { readonly name: string; readonly role?: string }): Promise<ConnectedAgent>;
  /** A participant that is not an AI: it answers messages with code. */
  registerObject(object: NewObject): Promise<RegisteredObject>;
}

const pauseMs = 500;
const defaultAskMs = 600_000;

export function agentOver(daemon: DaemonAddress, caller: Caller): ConnectedAgent {
  const client = createClient(daemon, caller);
  const letterOf = ({ delivery, ...letter }: InboxView): Letter => ({
    ...letter,
    reply: (body) => agent.reply(letter, body),
    async seen() {
      await client.call("collected", { deliveries: delivery === undefined ? [] : [delivery] });
    },
  });

  const agent: ConnectedAgent = {
    client,
    token: caller.token,
    whoami: () => client.call("whoami", {}),
    send: (to, body, options = {}) => client.call("send", { key: uuidv4(), ...options, to, body }),
    broadcast: (body, options = {}) => agent.send("@all", body, options),
    reply: ({ tag }, body, options = {}) => client.call("reply", { key: uuidv4(), ...options, tag, body }),
    status: ({ tag }) => client.call("status", { tag }),

    async ask(to, body, { timeoutMs = defaultAskMs, signal, onQuestion } = {}) {
      const { tag } = await agent.send(to, body, { expectsReply: true });
      const deadline = deadlineIn(timeoutMs);
      for (let left = timeoutMs; left > 0; left = deadline.leftMs()) {
        const { answer, lost, questions, first } = await client.call(
          "awaitAnswer",
          { tag, timeoutMs: Math.min(left, longestPollMs), ...(onQuestion && { questions: true }) },
          signal,
        );
        if (lost)
          throw new TielineError("DELIVERY_FAILED", `${tag} to ${lost.agent} is ${lost.state}`, {
            remedy: `\`tieline status ${tag}\` shows why`,
            operands: { tag },
          });
        if (first) throw questionWaiting(tag, first);
        for (const question of questions.map(letterOf)) {
          const text = await onQuestion?.(question);
          if (typeof text === "string") await question.reply(text);
          await question.seen();
        }
        if (!answer) continue;
        const { delivery, ...rest } = answer;
        if (delivery !== undefined) await client.call("collected", { deliveries: [delivery] });
        return rest;
      }
      throw new TielineError("NOT_IN_TIME", `${to} did not answer ${tag} in time`, {
        remedy: "the answer will arrive in the inbox",
        operands: { tag },
      });
    },

    async *inbox({ signal } = {}) {
      for (;;) {
        const letter = await nextLetter(client, signal);
        if (letter === null) return;
        const message = letterOf(letter);
        yield message;
        await message.seen();
      }
    },

    events: (options, signal) => streamEvents(daemon, caller, options, signal),

    async registerAgent(fields) {
      return registered(await client.call("register", { ...fields, kind: "program" }));
    },

    async registerObject({ onMessage, ...fields }) {
      const object = registered(await client.call("register", { ...fields, kind: "object" }));
      const ending = new AbortController();
      const stopped = answerAll(object, onMessage, ending.signal);
      const stop = (): void => ending.abort();
      return { object, stopped, stop, [Symbol.asyncDispose]: () => (stop(), stopped) };
    },
  };
  return agent;

  function registered({ token, agent: { team } }: Output<"register">): ConnectedAgent {
    const line: DaemonAddress = "url" in daemon ? { url: daemon.url, token } : daemon;
    return agentOver(line, { token, team });
  }
}

const questionWaiting = (
  tag: string,
  { tag: question, from }: NonNullable<Output<"awaitAnswer">["first"]>,
): TielineError =>
  new TielineError(
    "QUESTION_WAITING",
    `${from} waits for an answer to ${question}, and reads nothing before it has one`,
    {
      remedy: `answer ${question} first, or give \`ask\` an onQuestion; the answer to ${tag} will come to the inbox`,
      operands: { tag, questions: [question] },
    },
  );

async function answerAll(
  object: ConnectedAgent,
  onMessage: NewObject["onMessage"],
  signal: AbortSignal,
): Promise<void> {
  for await (const message of object.inbox({ signal })) {
    const answer = await onMessage(message, object);
    if (typeof answer === "string") await message.reply(answer);
  }
}

/** Waits for as long as it takes, over restarts of the daemon; null at the end. */
async function nextLetter(client: Client, signal: AbortSignal | undefined): Promise<InboxView | null> {
  while (!signal?.aborted) {
    try {
      const [letter] = await client.call("collect", { limit: 1, waitMs: longestPollMs }, signal);
      if (letter) return letter;
    } catch (thrown) {
      if (signal?.aborted) return null;
      if (!(thrown instanceof TielineError) || thrown.code !== "DAEMON_UNAVAILABLE") throw thrown;
      await systemTimers.pause(pauseMs, signal);
    }
  }
  return null;
}
