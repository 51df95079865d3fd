/** What happens when an agent's program calls a hook. */
import { hookEndpoint, hookKind } from "../delivery/transports/hook/transport.ts";
import type { HookChain } from "../providers/hooks/hookHandler.ts";
import { HookFlags } from "../delivery/transports/hook/flags.ts";
import { turnText } from "../intake/hooks/handlers/turnText.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import { hookHandlers } from "./hookHandlers.ts";
import type { Connections } from "../providers/connections.ts";
import type { Agents } from "./agents.ts";
import type { DeliveryArea } from "./delivery.ts";
import type { Intake } from "./intake.ts";
import type { Foundation } from "./options.ts";
import { providers } from "./providers.ts";
import type { Storage } from "./storage.ts";

export interface Hooks {
  readonly place: HookPlace;
  readonly chain: HookChain;
  readonly flags: HookFlags;
  readonly urgency: ReturnType<typeof hookHandlers>["urgency"];
}

export interface HooksParts
  extends
    Foundation,
    Pick<Storage, "mailbox" | "events">,
    Pick<Agents, "directory" | "agentOf" | "router" | "profileOf">,
    Pick<DeliveryArea, "courier">,
    Pick<Intake, "submissions"> {
  readonly connections: Connections;
  readonly place: HookPlace;
}

export function hooksOf(parts: HooksParts): Hooks {
  const { clock, timers, report, command, mailbox, events, directory, agentOf, router, profileOf, courier } = parts;
  const { submissions, connections, place } = parts;
  const { transcripts } = connections;
  const own = connections.all.flatMap((one) => one.hookHandlers?.({ router }) ?? []);
  const hooks = hookHandlers({
    ...{ directory, mailbox, courier, report, clock, timers },
    joined(agent, call) {
      const { sessionId } = call;
      transcripts.learn(agent, call);
      const known = hookKind.of(agent);
      if (known?.locator.sessionId === sessionId) return;
      directory.update(agent.id, {
        endpoints: [...agent.endpoints.filter((one) => one !== known), hookEndpoint(sessionId)],
      });
      courier.wake(agent.id);
    },
    observed: (agent, state) => connections.of(agent.provider).hookFired?.(agent, state),
    command,
    hasReadRefusal: (agent, call, refused) => transcripts.hasReadRefusal(agent, call, refused),
    own: { observers: own.flatMap(({ observers }) => observers), guards: own.flatMap(({ guards }) => guards) },
    emit: events.emit,
    turnText: turnText(
      submissions,
      (agent) => profileOf(agent)?.markers ?? false,
      (agent, call) => transcripts.lengthOf(agent, call),
      clock,
    ),
  });
  const { urgency } = hooks;
  const isRefusing: typeof urgency.isRefusing = (id) => urgency.isRefusing(id);
  const flags = new HookFlags({ mailbox, providers, agentOf, place, isRefusing, report, clock });
  return { place, chain: flags.follow(hooks.chain), flags, urgency };
}
