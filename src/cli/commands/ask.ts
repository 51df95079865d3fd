import type { Client } from "../../client/client.ts";
import { longestPollMs } from "../../api/wire.ts";
import type { InboxView, Output } from "../../api/schema.ts";
import { isBroadcast, parseAddress } from "../../model/address.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { deadlineIn, type Deadline } from "../../os/deadline.ts";
import { command, usage } from "../input/args.ts";
import { confirmShown, letter } from "../output/letters.ts";
import { printBody } from "../output/printBody.ts";
import { namesIn } from "../output/names.ts";
import { apart } from "../output/rows.ts";
import { draftOf, sendingFlags, textMeaning } from "../steps/sending.ts";
import { positiveDurationMs, span } from "../input/times.ts";
import { systemElapsed } from "../../model/ids.ts";

const defaultTimeoutMs = 600_000;

const ask = command({
  name: "ask",
  group: "Messages",
  uses: ["send", "awaitAnswer"],
  summary: "Ask an agent a question and print its answer.",
  usage: ["ask <to> [question…]", "ask --resume <tag>"],
  details: [
    "Sends the question, waits for the reply, and prints it. An offline agent is started, as with " +
      "`send`. Without a reply in time it exits with 4; the question stays open, and a late reply is in " +
      "your inbox.",
    "If another agent asks you something while you wait, that question is printed to stderr and the " +
      "command exits with 7 (QUESTION_WAITING), so two agents never wait for each other. Answer it with " +
      "`tieline reply`. Your own question stays open: `tieline ask --resume TAG` waits for its answer.",
    "With --json it prints `{ok, result, error: {code, message, type}, timeout, correlationId, " +
      "durationMs}`; type (permanent, transient or unknown) says whether asking again may help. With " +
      "QUESTION_WAITING it also has `questions`, a list of `{tag, from, body}`.",
  ],
  args: [
    { name: "to", optional: true, complete: "agent", summary: "the agent to ask" },
    { name: "question", optional: true, many: true, ...textMeaning },
  ],
  flags: {
    file: sendingFlags.file,
    stdin: sendingFlags.stdin,
    when: sendingFlags.when,
    key: sendingFlags.key,
    from: sendingFlags.from,
    resume: { value: "TAG", complete: "tag", summary: "wait for the answer to an earlier question" },
    timeout: { value: "TIME", parse: positiveDurationMs, summary: "how long to wait for the answer; 10m" },
  },
  examples: [
    ['tieline ask reviewer "is the change in auth.ts safe to merge?"', "wait for the answer and print it"],
    ['tieline ask reviewer --timeout 2m --json "ready?" | jq -r .result', "for scripts"],
    ["tieline ask --resume MSG_CODER_7f3a91c2", "after you answered the other question"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const startedAt = systemElapsed();
    let correlationId: string | null = null;
    let questions: readonly InboxView[] = [];
    const envelope = (fields: object): object => ({
      ok: false,
      result: null,
      error: null,
      timeout: false,
      correlationId,
      durationMs: Math.round(systemElapsed() - startedAt),
      ...fields,
    });
    try {
      correlationId = flags.resume ?? (await asked());
      const outcome = await untilAnswered(correlationId, deadlineIn(flags.timeout ?? defaultTimeoutMs), daemon);
      if ("questions" in outcome) {
        questions = outcome.questions;
        throw askedFirst(correlationId, questions);
      }
      if (flags.json) await terminal.json(envelope({ ok: true, result: outcome.body }));
      else await printBody({ ...outcome, body: `${outcome.body}\n` }, terminal);
      if (outcome.delivery !== undefined) await daemon.call("collected", { deliveries: [outcome.delivery] });
      return 0;
    } catch (thrown) {
      const { code, message, type, exitCode } = asTielineError(thrown);
      // Only an answer goes to stdout: scripts take what is there for one.
      if (!flags.json && questions.length > 0) {
        const nameOf = await namesIn(
          undefined,
          questions.map(({ team }) => team),
          daemon,
        );
        await terminal.complain(apart(questions.map((one) => letter(one, nameOf, terminal.paint, terminal.now()))));
      }
      if (flags.json)
        await terminal.json(
          envelope({
            error: { code, message, type },
            timeout: code === "NOT_IN_TIME",
            ...(questions.length > 0 && { questions: questions.map(({ tag, from, body }) => ({ tag, from, body })) }),
          }),
        );
      await confirmShown(questions, daemon);
      if (!flags.json) throw thrown;
      return exitCode;
    }

    /** The tag of the question. */
    async function asked(): Promise<string> {
      if (args.to === undefined) throw usage(ask, "<to> is missing");
      if (isBroadcast(parseAddress(args.to))) throw usage(ask, `${args.to} means several; ask one agent`);
      return (await daemon.call("send", { to: args.to, expectsReply: true, ...(await draftOf(args.question, flags)) }))
        .tag;
    }
  },
});
export default ask;

type Answer = NonNullable<Output<"awaitAnswer">["answer"]>;

async function untilAnswered(
  tag: string,
  deadline: Deadline,
  daemon: Client,
): Promise<Answer | Pick<Output<"awaitAnswer">, "questions">> {
  const askedAt = systemElapsed();
  for (;;) {
    const leftMs = deadline.leftMs();
    const { answer, lost, waiting, questions, first } = await daemon.call("awaitAnswer", {
      tag,
      timeoutMs: Math.min(leftMs, longestPollMs),
      questions: true,
    });
    if (answer) return answer;
    if (lost) throw notDelivered(tag, lost);
    if (questions.length > 0) return { questions };
    if (first) throw unanswered(tag, first);
    if (leftMs === 0) throw noAnswer(tag, systemElapsed() - askedAt, waiting);
  }
}

const howToGoOn = (tag: string, question: string): string =>
  `\`tieline reply ${question} …\` answers; then \`tieline ask --resume ${tag}\` waits for the answer to yours`;

function askedFirst(tag: string, mail: readonly InboxView[]): TielineError {
  const questions = mail.filter(({ expectsReply }) => expectsReply);
  const { tag: question, from } = questions[0]!;
  const who = questions.length === 1 ? `${from} asks` : `${questions.map((one) => one.from).join(" and ")} ask`;
  return new TielineError(
    "QUESTION_WAITING",
    `${who} you something while you wait for the answer to ${tag}, which stays open`,
    {
      remedy: howToGoOn(tag, question),
      operands: { tag, questions: questions.map((one) => one.tag) },
    },
  );
}

function unanswered(tag: string, { tag: question, from }: NonNullable<Output<"awaitAnswer">["first"]>): TielineError {
  return new TielineError(
    "QUESTION_WAITING",
    `${from} waits for your answer to ${question}, and reads nothing before it has one`,
    {
      remedy: howToGoOn(tag, question),
      operands: { tag, questions: [question] },
    },
  );
}

function notDelivered(tag: string, { agent, state, reason }: NonNullable<Output<"awaitAnswer">["lost"]>): TielineError {
  const details = { remedy: `\`tieline status ${tag}\` shows its history`, operands: { tag, agent, state } };
  const why = reason === null ? "" : `: ${reason}`;
  if (state === "delivered")
    return new TielineError("NOT_READ", `${tag} was delivered to ${agent}, but not read${why}`, details);
  return new TielineError(
    state === "expired" ? "EXPIRED" : "DELIVERY_FAILED",
    `${tag} to ${agent} is ${state}${why}`,
    details,
  );
}

function noAnswer(tag: string, afterMs: number, waiting: string | null): TielineError {
  const why = waiting === null ? "" : `; it was not delivered yet: ${waiting}`;
  return new TielineError("NOT_IN_TIME", `no answer to ${tag} within ${span(afterMs)}${why}`, {
    remedy:
      `a later answer arrives in \`tieline inbox\`; \`tieline status ${tag}\` shows the state of the ` + "question",
    operands: { tag },
  });
}
