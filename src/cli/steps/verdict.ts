/** `approve` and `deny`: the same command with another word. */
import type { OpenRequest } from "../../api/schemas/requests.ts";
import type { Client } from "../../client/client.ts";
import { linesOf } from "../../model/visible.ts";
import { namesIn, type Name } from "../output/names.ts";
import { presentReceipt } from "../output/receipts.ts";
import { apart } from "../output/rows.ts";
import type { Paint, Terminal } from "../output/terminal.ts";
import { span } from "../input/times.ts";

export const verdictArgs = [
  {
    name: "tag",
    optional: true,
    complete: "tag",
    field: "tag",
  },
  { name: "text", optional: true, many: true, field: "text", note: "several words are joined by spaces" },
] as const;

export const verdictDetails = [
  "Members of Claude Code teams ask for permissions, for the approval of a plan, and a lead asks for the end " +
    "of a member. The answer goes back in their own protocol, once: a second, different answer is refused.",
  "For the user, and for agents with `may: [answer]` in their profile.",
];

interface Verdict {
  readonly approve: boolean;
  readonly tag: string | undefined;
  readonly text: readonly string[];
}

export async function answerRequest(
  { approve, tag, text }: Verdict,
  { daemon, terminal, json }: { daemon: Client; terminal: Terminal; json: boolean },
): Promise<number> {
  if (tag === undefined) return list(daemon, terminal, json);
  const receipt = await daemon.call("answerRequest", {
    tag,
    approve,
    ...(text.length > 0 && { text: text.join(" ") }),
  });
  return presentReceipt(receipt, { flags: { json }, terminal });
}

async function list(daemon: Client, terminal: Terminal, json: boolean): Promise<number> {
  const open = await daemon.call("requests", {});
  if (json) await terminal.json(open);
  else if (open.length === 0) await terminal.print(terminal.paint("dim", "no pending requests"));
  else {
    const nameOf = await namesIn(
      undefined,
      open.map(({ team }) => team),
      daemon,
    );
    await terminal.print(apart(open.map((request) => requestLines(request, nameOf, terminal.paint, terminal.now()))));
  }
  return 0;
}

const asks: Readonly<Record<OpenRequest["kind"], string>> = {
  permission_request: "asks for a permission",
  plan_approval_request: "asks you to approve a plan",
  shutdown_request: "asks for an end",
};

function requestLines(
  { tag, from, team, kind, text, at }: OpenRequest,
  nameOf: Name,
  paint: Paint,
  now: number,
): string[] {
  const head = `${paint("bold", tag)} ${nameOf(team, from)} ${asks[kind]}   ${paint("dim", `${span(now - at)} ago`)}`;
  return [head, ...linesOf(text.trimEnd()).map((line) => `  ${line}`), howToAnswer(tag, paint)];
}

export const howToAnswer = (tag: string, paint: Paint): string =>
  paint("dim", `  tieline approve ${tag}   ·   tieline deny ${tag} [why]`);
