/** What happens when an agent's program calls a hook. */
import { endpointBy } from "../model/agent.ts";
import { hookEndpoint } from "../delivery/transports/hook/transport.ts";
import type { HookChain } from "../intake/hooks/chain.ts";
import { HookFlags } from "../intake/hooks/flags.ts";
import { emitters } from "../intake/hooks/handlers/emitters.ts";
import { nativeSend } from "../intake/hooks/handlers/nativeSend.ts";
import { turnText } from "../intake/hooks/handlers/turnText.ts";
import type { HookPlace } from "../intake/hooks/place.ts";
import { standardHooks } from "../intake/hooks/standard.ts";
import { isClaude } from "../providers/claude-code/sessions.ts";
import type { Agents } from "./agents.ts";
import type { DeliveryArea } from "./delivery.ts";
import type { Intake } from "./intake.ts";
import type { Foundation } from "./options.ts";
import type { Programs } from "./programs.ts";
import { providers } from "./providers.ts";
import type { Storage } from "./storage.ts";

export interface Hooks {
  readonly chain: HookChain;
  readonly flags: HookFlags;
  readonly urgency: ReturnType<typeof standardHooks>["urgency"];
}

export interface HooksParts
  extends
    Foundation,
    Pick<Storage, "mailbox" | "events">,
    Pick<Agents, "directory" | "agentOf" | "router" | "profileOf">,
    Pick<DeliveryArea, "courier">,
    Pick<Intake, "submissions"> {
  readonly programs: Programs;
  readonly place: HookPlace;
}

export function hooksOf(parts: HooksParts): Hooks {
  const { clock, report, command, mailbox, events, directory, agentOf, router, profileOf, courier } = parts;
  const { submissions, programs, place } = parts;
  const hooks = standardHooks({
    ...{ directory, mailbox, courier, report, clock },
    joined(agent, { sessionId, transcriptPath }) {
      if (transcriptPath !== null) programs.transcripts.learn(agent, sessionId, transcriptPath);
      const known = endpointBy("hook", agent);
      if (known?.locator["sessionId"] === sessionId) return;
      directory.update(agent.id, {
        endpoints: [...agent.endpoints.filter((one) => one !== known), hookEndpoint(sessionId)],
      });
      courier.wake(agent.id);
    },
    observed(agent, state) {
      if (isClaude(agent)) programs.claude.heard(agent, state);
    },
    command,
    hasReadRefusal: (agent, call, refused) => programs.transcripts.hasReadRefusal(agent, call, refused),
    more: [
      ...nativeSend({ router, knownNatively: (name, agent) => programs.claude.knows(name, agent) }),
      turnText(
        submissions,
        (agent) => profileOf(agent)?.markers ?? false,
        (agent, path) => programs.transcripts.lengthAt(agent, path),
      ),
      ...emitters(events.emit),
    ],
  });
  const { urgency } = hooks;
  const isRefusing: typeof urgency.isRefusing = (id) => urgency.isRefusing(id);
  const flags = new HookFlags({ mailbox, providers, agentOf, place, isRefusing, report, clock });
  return { chain: flags.follow(hooks.chain), flags, urgency };
}
