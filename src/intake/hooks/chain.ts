/** Every hook call goes through one chain of handlers; compose/hookHandlers.ts lists them in order. */
import type { Report } from "../../os/runForever.ts";
import type { Agent } from "../../model/agent.ts";
import type { HookCall } from "../../providers/hooks/hookCall.ts";
import type { HandlerAnswer, HookChain, HookHandler, Verdict } from "../../providers/hooks/hookHandler.ts";

/** Asks the handlers in the order of the array. */
export function createHookChain(handlers: readonly HookHandler[], report: Report): HookChain {
  const interested = (event: string): HookHandler[] => handlers.filter(({ events }) => events.includes(event));

  return {
    async run(call, agent) {
      const answers: HandlerAnswer[] = [];
      for (const handler of interested(call.event)) {
        const answer = await ask(handler, call, agent, report);
        if (answer === undefined) continue;
        answers.push(answer);
        // A refused call does not happen, so no later handler is asked about it.
        if (answer.refusal !== undefined) break;
      }
      return verdictOf(answers);
    },

    async observe(call, agent) {
      for (const handler of interested(call.event))
        if (handler.kind === "observer") await ask(handler, call, agent, report);
    },
  };
}

async function ask(
  handler: HookHandler,
  call: HookCall,
  agent: Agent,
  report: Report,
): Promise<HandlerAnswer | undefined> {
  try {
    return await handler.handle(call, agent);
  } catch (fault) {
    report(`hook handler ${handler.name}, ${call.event}`, fault);
    if (handler.kind !== "guard") return undefined;
    return {
      refusal:
        `Tieline could not check this call (${fault instanceof Error ? fault.message : String(fault)}); try it ` +
        "again",
    };
  }
}

/** A refused call carries no other text: what the handlers before it had to say counts as not said. */
function verdictOf(answers: readonly HandlerAnswer[]): Verdict {
  const refusing = answers.find(({ refusal }) => refusal !== undefined);
  const said = refusing ? [refusing] : answers;
  const unsaid = answers.filter((answer) => !said.includes(answer));
  const context = refusing ? null : answers.map((answer) => answer.context).join("\n\n");
  const lost = (some: readonly HandlerAnswer[]): Promise<unknown> => Promise.all(some.map((answer) => answer.lost?.()));
  return {
    refusal: refusing?.refusal ?? null,
    context: context === "" ? null : context,
    async written() {
      await Promise.all([...said.map((answer) => answer.written?.()), lost(unsaid)]);
    },
    async lost() {
      await lost(answers);
    },
  };
}
