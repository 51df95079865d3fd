import type { Caller } from "./schema.ts";
import type { Directory } from "../agents/directory/directory.ts";
import { endpointBy, userId } from "../model/agent.ts";
import type { Sender } from "../model/message.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";

/** Where a caller's agents are started. The user says where; an agent's are where it lives itself, whatever it says. */
export function tmuxServerOf(
  from: Sender,
  caller: Caller,
  { directory, tmuxSocket }: { readonly directory: Pick<Directory, "agent">; readonly tmuxSocket: string },
): string {
  if (from.id === userId) return caller.tmuxServer ?? tmuxSocket;
  const agent = directory.agent(from.id);
  const own = agent && endpointBy("tmux", agent);
  return own ? tmuxEndpoint.locatorOf(own).socket : tmuxSocket;
}
