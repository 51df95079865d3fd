import type { Client } from "../../client/client.ts";
import { longestPollMs } from "../../client/operations.ts";
import type { Output } from "../../client/schema.ts";
import { isBroadcast, parseAddress } from "../../model/address.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { command, usage } from "../args.ts";
import { printBody } from "../printBody.ts";
import { draftOf, sendingFlags } from "../sending.ts";
import { positiveDurationMs, span } from "../times.ts";

const defaultTimeoutMs = 600_000;

const ask = command({
  name: "ask",
  group: "Messages",
  summary: "ask an agent a question and print its answer",
  usage: ["ask <to> [question…]"],
  details: [
    "Sends the question, tells the agent that an answer is expected, waits until it replies with `tieline reply`, and prints the text of the reply. An agent that is offline is started as by `send`. Without an answer in time it exits with 4; the question is not lost, and a late answer waits in your inbox.",
    "With --json it prints `{ok, result, error: {code, message, type}, timeout, correlationId, durationMs}`; type is permanent, transient or unknown, and says whether asking again may help.",
  ],
  args: [
    { name: "to", complete: "agent", summary: "whom to ask; one agent" },
    { name: "question", optional: true, many: true, summary: "the text; several words are joined by spaces" },
  ],
  flags: {
    file: sendingFlags.file,
    stdin: sendingFlags.stdin,
    when: sendingFlags.when,
    key: sendingFlags.key,
    from: sendingFlags.from,
    timeout: { value: "TIME", parse: positiveDurationMs, summary: "how long to wait for the answer; 10m" },
  },
  examples: [
    ['tieline ask reviewer "is the change in auth.ts safe to merge?"', "wait for the answer and print it"],
    ['tieline ask reviewer --timeout 2m --json "ready?" | jq -r .result', "for scripts"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const startedAt = Date.now();
    let correlationId: string | null = null;
    try {
      if (isBroadcast(parseAddress(args.to))) throw usage(ask, `${args.to} means several; ask one agent`);
      const draft = await draftOf(args.question, flags);
      const { tag } = await daemon.call("send", { to: args.to, expectsReply: true, ...draft });
      correlationId = tag;
      const answer = await untilAnswered(tag, startedAt + (flags.timeout ?? defaultTimeoutMs), daemon);
      if (flags.json) await terminal.json({ ok: true, result: answer.body, error: null, timeout: false, correlationId, durationMs: Date.now() - startedAt });
      else await printBody({ ...answer, body: `${answer.body}\n` }, terminal);
      if (answer.delivery !== undefined) await daemon.call("collected", { deliveries: [answer.delivery] });
      return 0;
    } catch (thrown) {
      if (!flags.json) throw thrown;
      const { code, message, type, exitCode } = asTielineError(thrown);
      await terminal.json({ ok: false, result: null, error: { code, message, type }, timeout: code === "NOT_IN_TIME", correlationId, durationMs: Date.now() - startedAt });
      return exitCode;
    }
  },
});
export default ask;

type Answer = NonNullable<Output<"answer">["answer"]>;

async function untilAnswered(tag: string, deadline: number, daemon: Client): Promise<Answer> {
  const askedAt = Date.now();
  for (;;) {
    const leftMs = Math.max(0, deadline - Date.now());
    const { answer, lost, waiting } = await daemon.call("answer", { tag, timeoutMs: Math.min(leftMs, longestPollMs) });
    if (answer) return answer;
    if (lost) throw notDelivered(tag, lost);
    if (leftMs === 0) throw noAnswer(tag, Date.now() - askedAt, waiting);
  }
}

function notDelivered(tag: string, { agent, state, reason }: NonNullable<Output<"answer">["lost"]>): TielineError {
  const details = { remedy: `\`tieline status ${tag}\` tells the whole story`, operands: { tag, agent, state } };
  const why = reason === null ? "" : `: ${reason}`;
  return new TielineError(state === "expired" ? "EXPIRED" : "DELIVERY_FAILED", `${tag} to ${agent} is ${state}${why}`, details);
}

function noAnswer(tag: string, afterMs: number, waiting: string | null): TielineError {
  const why = waiting === null ? "" : `; it was not delivered yet: ${waiting}`;
  return new TielineError("NOT_IN_TIME", `nobody answered ${tag} within ${span(afterMs)}${why}`, {
    remedy: `an answer that comes later is in \`tieline inbox\`; \`tieline status ${tag}\` tells how far it got`,
    operands: { tag },
  });
}
