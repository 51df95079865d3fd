import type { Caller } from "../api/schema.ts";

/**
 * An MCP client is a program with a model, so the user's token alone does not make it the user. A thread id
 * in the call itself says more than what the process knows: one Codex server carries many threads.
 */
export function modelsCaller(caller: Caller, threadId: string | undefined): Caller {
  const variables = caller.agentVariables ?? [];
  return {
    ...caller,
    agentVariables: variables.length > 0 ? variables : ["MCP"],
    ...(threadId !== undefined && { sessionId: threadId }),
  };
}
