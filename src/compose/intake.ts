/** Messages that do not come through the API, and the objects that get some. */
import type { Agent } from "../model/agent.ts";
import { objectEndpoint } from "../delivery/transports/object/transport.ts";
import { openWorkspaceInbox } from "../delivery/transports/workspaceInbox/write.ts";
import { outputsOf } from "../intake/outputs.ts";
import { Submissions } from "../intake/submissions.ts";
import { Workspaces } from "../intake/workspaces.ts";
import { Objects } from "../objects/objects.ts";
import type { Agents } from "./agents.ts";
import type { Foundation } from "./options.ts";
import type { Storage } from "./storage.ts";

export interface Intake {
  readonly submissions: Submissions;
  readonly workspaces: Workspaces;
  readonly objects: Objects;
}

export interface IntakeParts extends Foundation, Pick<Storage, "mailbox" | "documents" | "events"> {
  readonly agents: Agents;
  /** Whether an agent can be sent a notice about its own message. */
  readonly getsNotices: (agent: Agent) => boolean;
}

export function intakeOf(parts: IntakeParts): Intake {
  const { options, clock, timers, random, report, mailbox, documents, events, getsNotices } = parts;
  const { directory, router, teams, trust, reachable, loggedProfileOf } = parts.agents;
  const submissions = new Submissions({
    ...{ mailbox, router, report, clock, timers, random },
    getsNotices: (agent) => getsNotices(directory.agent(agent.id) ?? agent),
  });
  const workspaces = new Workspaces({
    ...{ mailbox, documents, report, reachable, submissions, clock, timers, random },
    agents: () => directory.agents(),
    openInbox: openWorkspaceInbox,
    outputsOf: (agent) => outputsOf(agent, loggedProfileOf(agent)),
  });
  events.onEvent((event) => {
    if (
      event.type === "agent.registered" ||
      event.type === "agent.removed" ||
      (event.type === "agent.changed" && event.state === "starting")
    )
      workspaces.refresh();
  });
  const objects = new Objects({
    ...{ directory, mailbox, router, documents, report, clock, timers, random, env: options.env },
    projectOf: teams.projectOf,
    trusted: (root) => trust.objectsOf(root),
    endpoint: objectEndpoint,
  });
  return { submissions, workspaces, objects };
}
