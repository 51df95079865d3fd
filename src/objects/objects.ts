/**
 * The objects of every team: who they are is in each project's tieline.yaml, so they are made from it and made again
 * when it changes. Code that a project brings along runs only once its object gets a message, or `tieline up`
 * starts it: looking at a directory must not run what is in it.
 */
import type { ObjectFields, Project } from "../config/project.ts";
import type { Directory } from "../agents/directory/directory.ts";
import type { Documents } from "../agents/directory/documents/port.ts";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent, Endpoint, systemObjects } from "../model/agent.ts";
import type { Outcome } from "../model/delivery.ts";
import { TielineError } from "../model/errors.ts";
import { agentId, systemClock, type AgentId, type Clock, type RandomBytes } from "../model/ids.ts";
import { replyAddress, wakes, type Draft, type Message, type Sender } from "../model/message.ts";
import type { Router } from "../routing/router.ts";
import { renewWatcher, type Watcher } from "../os/watchFolder.ts";
import { gateway, gatewayPatienceMs } from "./builtin/gateway.ts";
import { metrics, type MetricsSnapshot } from "./builtin/metrics.ts";
import type { Builtin, BuiltinParts } from "./builtin/parts.ts";
import { tick } from "./builtin/tick.ts";
import type { OpenChannel } from "./channel.ts";
import { child } from "./channels/child.ts";
import { inline } from "./channels/inline.ts";
import { ModuleThreads, type ModuleText } from "./channels/worker.ts";
import type { Accepted, ObjectHandler } from "./handler.ts";
import type { Posting } from "./protocol.ts";
import { Notices } from "./notices.ts";
import { ObjectSession } from "./session.ts";
import type { Timers } from "../os/timers.ts";

export interface ObjectsParts {
  readonly directory: Directory;
  readonly mailbox: Pick<Mailbox, "message" | "receipt" | "inbox" | "abandon" | "read" | "onTransitions">;
  readonly router: Router;
  readonly documents: Documents;
  /** null: the team has no project. Throws when its file is wrong. */
  readonly projectOf: (team: string) => Project | null;
  /** The project in this directory, as the user has trusted it. Throws UNTRUSTED. */
  readonly trusted: (root: string) => TrustedProject;
  readonly report: (context: string, fault: unknown) => void;
  /** The environment of child processes. */
  readonly env: Readonly<Record<string, string>>;
  readonly endpoint: Endpoint;
  readonly backoffMs?: readonly number[];
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
}

/** What a project's objects are made from: the bytes that were judged, and nothing that is read later. */
export interface TrustedProject {
  readonly root: string;
  readonly project: Project;
  readonly modules: ReadonlyMap<string, ModuleText>;
  /** By object: its command, with the program as an absolute path. */
  readonly commands: ReadonlyMap<string, readonly string[]>;
}

interface Resident {
  readonly agent: Agent;
  /** Changes when the object must be made again. */
  readonly version: string;
  readonly session: ObjectSession;
  /** It came with the switch. */
  readonly handler: ObjectHandler | null;
}

/** Whether a message can be delivered now; the same as a transport's readiness. */
export type ObjectReadiness =
  | { readonly kind: "ready" }
  | { readonly kind: "held"; readonly hold: { readonly reason: "starting" | "error"; readonly detail: string } }
  | { readonly kind: "gone"; readonly detail: string };

const builtins: Readonly<Record<(typeof systemObjects)[number], Builtin>> = { metrics, tick, gateway };

export class Objects {
  private readonly residents = new Map<AgentId, Resident>();
  private readonly projects = new Map<string, Project>();
  private readonly watchers = new Map<string, Watcher | undefined>();
  private readonly listeners = new Map<AgentId, Set<() => void>>();
  private readonly threads: ModuleThreads;
  private readonly leaving = new Set<Promise<unknown>>();
  private readonly clock: Clock;
  private readonly notices: Notices;
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: ObjectsParts) {
    this.clock = parts.clock ?? systemClock;
    this.threads = new ModuleThreads(undefined, parts.timers);
    this.notices = new Notices({
      mailbox: parts.mailbox,
      transport: "object",
      read: (id, message) => this.logNotice(id, message),
    });
  }

  /** Brings back the objects of every team that is known. */
  start(): void {
    this.stopListening = this.parts.mailbox.onTransitions((changes) => {
      for (const { transition, delivery, message } of changes) {
        if (transition.to === "queued" && !wakes(message.kind) && this.residents.has(delivery.agent))
          this.inBackground("read a notice", this.notices.take(delivery.agent));
      }
    });
    for (const { name } of this.parts.directory.teams()) this.see(name);
  }

  /** The team's project may be new or changed. Cheap when it is not. */
  see(team: string): void {
    try {
      const project = this.parts.projectOf(team);
      if (project === null) return;
      this.watchers.set(
        team,
        renewWatcher(this.watchers.get(team), project.root, () => this.see(team)),
      );
      if (this.projects.get(team) === project) return;
      this.projects.set(team, project);
      // Where nothing is to be started, nothing has to be trusted.
      if (project.objects.size > 0 || this.hasResidents(team)) this.settle(team, this.parts.trusted(project.root));
    } catch (thrown) {
      this.parts.report(`objects of team ${team}`, thrown);
    }
  }

  /** The user has trusted the team's project as it is now. */
  trustChanged(team: string): void {
    this.projects.delete(team);
    this.see(team);
  }

  private hasResidents(team: string): boolean {
    return [...this.residents.values()].some(({ agent }) => agent.team === team);
  }

  /** Starts what has not been started. */
  startAll(team: string): void {
    for (const { agent, session } of this.residents.values()) if (agent.team === team) session.start();
  }

  metricsOf(team: string): MetricsSnapshot | null {
    const handler = this.residents.get(objectId(team, "metrics"))?.handler;
    return handler && "snapshot" in handler ? (handler as ReturnType<typeof metrics>).snapshot() : null;
  }

  ready(id: AgentId): ObjectReadiness {
    const resident = this.residents.get(id);
    if (resident === undefined) return { kind: "gone", detail: "the object is not in tieline.yaml any more" };
    const { session, agent } = resident;
    const { state } = session;
    // The delivery starts a new one; one that cannot be loaded takes its mail to send it back.
    if (state.kind === "new" || state.kind === "up" || state.kind === "broken") return { kind: "ready" };
    if (state.kind !== "crashed")
      return { kind: "held", hold: { reason: "starting", detail: `${agent.name} is starting` } };
    return {
      kind: "held",
      hold: { reason: "error", detail: `${agent.name} crashed and is started again: ${state.reason}` },
    };
  }

  async take(id: AgentId, message: Message): Promise<Outcome> {
    const resident = this.residents.get(id);
    return resident
      ? resident.session.take(message)
      : { kind: "gone", detail: "the object is not in tieline.yaml any more" };
  }

  watch(id: AgentId, changed: () => void): Disposable {
    const listeners = this.listeners.get(id) ?? new Set();
    this.listeners.set(id, listeners.add(changed));
    // It may have become ready between the look that found it was not and now.
    const state = this.residents.get(id)?.session.state.kind;
    if (state === "up" || state === "new" || state === "broken") queueMicrotask(changed);
    return { [Symbol.dispose]: () => void listeners.delete(changed) };
  }

  async close(): Promise<void> {
    this.stopListening();
    for (const watcher of this.watchers.values()) watcher?.close();
    await Promise.all([...this.residents.values()].map(({ session }) => session.close()));
    await Promise.all(this.leaving);
  }

  /** Makes the team's objects what its project says. */
  private settle(team: string, trusted: TrustedProject): void {
    const { project } = trusted;
    for (const resident of [...this.residents.values()]) {
      if (resident.agent.team === team && !project.objects.has(resident.agent.name)) this.evict(resident);
    }
    for (const [name, fields] of project.objects) {
      const id = objectId(team, name);
      const known = this.residents.get(id);
      const version = versionOf(name, fields, trusted);
      if (known?.version === version) continue;
      if (known) this.inBackground(`close ${name}`, known.session.close());
      try {
        this.admit(id, name, team, fields, trusted, version);
      } catch (thrown) {
        this.parts.report(`object ${team}:${name}`, thrown);
      }
    }
  }

  private admit(
    id: AgentId,
    name: string,
    team: string,
    fields: ObjectFields,
    trusted: TrustedProject,
    version: string,
  ): void {
    const { directory, endpoint, report, backoffMs, timers } = this.parts;
    const agent = directory.add({
      ...directory.prepare({ name, team, kind: "object", provider: "object", endpoints: [endpoint], state: "idle" }),
      id,
    });
    const { open, handler, timeoutMs } = this.channelOf(name, team, fields, trusted);
    const session = new ObjectSession({
      name,
      team,
      options: fields.options,
      timeoutMs,
      open,
      post: (posting) => this.post(posting, agent),
      note: (text) =>
        report(`object ${team}:${name}`, new TielineError("DELIVERY_FAILED", text, { remedy: "see docs/objects.md" })),
      changed: () => this.changed(id),
      ...(backoffMs && { backoffMs }),
      ...(timers && { timers }),
    });
    this.residents.set(id, { agent, version, session, handler });
    if (handler !== null) session.start();
    this.inBackground("read notices", this.notices.take(id));
    this.tell(id);
  }

  private channelOf(
    name: string,
    team: string,
    fields: ObjectFields,
    { root, modules, commands }: TrustedProject,
  ): { open: OpenChannel; handler: ObjectHandler | null; timeoutMs: number } {
    const { timeoutMs } = fields;
    const { timers } = this.parts;
    const [module, command] = [modules.get(name), commands.get(name)];
    if (module !== undefined) return { open: this.threads.opener(module), handler: null, timeoutMs };
    if (command !== undefined) {
      const env = { ...this.parts.env, TIELINE_TEAM: team, TIELINE_OBJECT: name };
      return { open: child({ argv: command, cwd: root, env, ...(timers && { timers }) }), handler: null, timeoutMs };
    }
    const handler = builtins[name as keyof typeof builtins](this.builtinParts(team, name, root));
    return {
      open: inline(() => handler),
      handler,
      timeoutMs: name === "gateway" ? gatewayPatienceMs(fields.options) : timeoutMs,
    };
  }

  private builtinParts(team: string, name: string, root: string): BuiltinParts {
    const { documents, mailbox, timers, random } = this.parts;
    const key = `${team}:${name}`;
    return {
      ...{ root, clock: this.clock, ...(timers && { timers }), ...(random && { random }) },
      memory: {
        load: () => documents.all("object").find((document) => document.key === key)?.value ?? null,
        save: (value) => documents.put("object", key, value),
      },
      undelivered: (id) =>
        mailbox.receipt(id)?.deliveries.some(({ state }) => state === "queued" || state === "claimed") ?? false,
    };
  }

  /** It is not in the project any more: its mail fails, and the senders get bounces. */
  private evict({ agent, session }: Resident): void {
    this.residents.delete(agent.id);
    const over = async (): Promise<void> => {
      await session.close();
      const { mailbox, directory } = this.parts;
      for (const { delivery } of mailbox.inbox(agent.id, { pending: true, limit: Number.MAX_SAFE_INTEGER })) {
        if (this.residents.has(agent.id)) return;
        await mailbox.abandon(delivery.id, `${agent.name} is not in tieline.yaml any more`);
      }
      if (!this.residents.has(agent.id) && directory.agent(agent.id)) directory.remove(agent.id);
    };
    this.inBackground(`remove ${agent.name}`, over());
  }

  private changed(id: AgentId): void {
    const { directory } = this.parts;
    const resident = this.residents.get(id);
    if (resident === undefined || directory.agent(id) === null) return;
    const { state } = resident.session;
    if (state.kind === "up") {
      directory.observe(id, "idle");
      if (state.interface != null)
        directory.update(id, {
          note: typeof state.interface === "string" ? state.interface : JSON.stringify(state.interface),
        });
    } else if (state.kind === "crashed") directory.observe(id, "unknown", `crashed: ${state.reason}`);
    else if (state.kind === "broken") directory.observe(id, "unknown", `cannot be loaded: ${state.reason}`);
    this.tell(id);
  }

  private tell(id: AgentId): void {
    for (const listener of [...(this.listeners.get(id) ?? [])]) listener();
  }

  private async post(posting: Posting, agent: Agent): Promise<Accepted> {
    const sender: Sender = { id: agent.id, name: agent.name, team: agent.team, knownBy: "object" };
    const { receipt, refused } = await this.parts.router.send(this.draftOf(posting, agent), sender);
    return {
      id: receipt.message.id,
      tag: receipt.message.tag,
      successful: receipt.deliveries.map(({ agentName }) => agentName),
      failed: refused.map(({ agent: name, error }) => ({ agent: name, code: error.code, message: error.message })),
    };
  }

  private draftOf(posting: Posting, agent: Agent): Draft {
    if (posting.type === "broadcast") return { to: "@all", body: posting.content };
    if (posting.type === "send") {
      const { to, content, key, spawn } = posting;
      return {
        to,
        body: content,
        ...(key !== undefined && { idempotencyKey: key }),
        ...(spawn !== undefined && { spawn }),
      };
    }
    const original = this.parts.mailbox.receipt(posting.id);
    if (!original?.deliveries.some((delivery) => delivery.agent === agent.id)) throw notReceived(posting.id, agent);
    return { to: replyAddress(original.message), body: posting.content, inReplyTo: original.message.id };
  }

  /** Bounces and acks start no turn; an object has no inbox to read later, so they go to the log. */
  private logNotice(id: AgentId, { kind, body }: Message): void {
    const name = this.residents.get(id)?.agent.name ?? id;
    if (kind === "bounce")
      this.parts.report(
        `bounce for ${name}`,
        new TielineError("DELIVERY_FAILED", body, { remedy: "see `tieline dead`" }),
      );
  }

  private inBackground(what: string, work: Promise<unknown>): void {
    const done: Promise<unknown> = work
      .catch((fault: unknown) => this.parts.report(what, fault))
      .finally(() => this.leaving.delete(done));
    this.leaving.add(done);
  }
}

/** The same after every restart, because mail may wait for it. It looks like every other id. */
export function objectId(team: string, name: string): AgentId {
  const hex = new Bun.CryptoHasher("sha256").update(`${team}:${name}`).digest("hex");
  return agentId(
    `${hex.slice(0, 8)}-${hex.slice(8, 12)}-8${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`,
  );
}

function versionOf(name: string, fields: ObjectFields, { root, modules }: TrustedProject): string {
  return JSON.stringify([root, fields, modules.get(name)?.text ?? null]);
}

const notReceived = (message: string, agent: Agent): TielineError =>
  new TielineError("NOT_PERMITTED", `${agent.name} was not a recipient of ${message}, so it cannot reply to it`, {
    remedy: "reply to a message that the object received",
    operands: { message, object: agent.name },
  });
