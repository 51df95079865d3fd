/**
 * The second half of the flow: claim, deliver, settle. The courier never throws at a sender; whatever
 * happens to a delivery is written into the mailbox, where the sender can read it.
 *
 * Each agent has two lanes. The push lane writes one delivery at a time, once an endpoint is ready; until then it
 * waits in the queue and blocks no urgent one. The pull lane is `collect`: the agent asks, and gets what is there.
 */
import { notRunningWords, type Agent, type Endpoint } from "../model/agent.ts";
import type { Authority, Delivery, Hold, Outcome } from "../model/delivery.ts";
import { asTielineError } from "../model/errors.ts";
import { systemClock, type AgentId, type Clock, type DeliveryId } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { Ages } from "../os/ages.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import { Backoff } from "./backoff.ts";
import { collectMail, hasFailed, type Collected, type Collection } from "./collect.ts";
import { PendingInspections } from "./pendingInspections.ts";
import { createInspector } from "./inspector.ts";
import { Order } from "./order.ts";
import { Lateness } from "./lateness.ts";
import type { ModelWatch } from "./outages.ts";
import { noticesFor } from "./notices.ts";
import { withNotes } from "./notes.ts";
import { Rounds } from "./rounds.ts";
import { Schedule } from "./schedule.ts";
import { Watches } from "./watches.ts";
import type { Attempt, Readiness, Transport } from "./transports/port.ts";
import { selectEndpoints } from "./transportSelection.ts";
import { takingMs } from "./takingMs.ts";

export type { Collected, Collection };

export interface Courier extends AsyncDisposable {
  /** Settles what an earlier process left behind, then serves every agent that has mail. */
  start(): Promise<void>;
  /** Something about this agent may have changed: mail came, an endpoint opened. Cheap, and safe to repeat. */
  wake(agent: AgentId): void;
  /** Gives an agent that asks its waiting mail. `flushed` says that the text is out; only then is it settled. */
  collect(agent: Agent, request: Collection): Promise<Collected>;
  /**
   * Looks again for what the agent was given without proof, and for these that were delivered with a weak one; what
   * was lost and surely did not arrive waits again.
   */
  reconsider(agent: AgentId, delivered?: readonly DeliveryId[]): Promise<void>;
  /** Notes on the receipt that an urgent message can only arrive later than it was sent for. */
  readonly announce: Lateness["announce"];
  /** The clock was set, and deadlines with it: what is due is planned again. */
  replan(): void;
  /** Why the agent's next message waits, if it does. */
  holdOf(agent: AgentId): (Hold & { readonly at: number }) | null;
}

export interface CourierParts {
  readonly mailbox: Mailbox;
  readonly agent: (id: AgentId) => Agent | null;
  readonly transports: ReadonlyMap<string, Transport>;
  /** Told when the model of an agent fails with a message in its context, or answers. */
  readonly model?: ModelWatch;
  /** Faults that have no sender to report to. */
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
  readonly timers?: Timers;
  /** One attempt may take this long, and longer with a long text. */
  readonly timeoutMs?: number;
  /** After an attempt that came a moment too late; twice as long after each further one. */
  readonly retryMs?: number;
  /** Signals can be missed; everything that waits is checked again this often. */
  readonly sweepMs?: number;
  /** The command that lets Tieline reach agents of a provider during a turn; null: none. */
  readonly remedyFor?: (provider: string) => string | null;
}

/** How long a round that failed waits for the next. */
const failedMs = 1_000;
/** Reasons that follow each other sooner than this are not all written down. */
const holdMs = 1_000;

export function createCourier(parts: CourierParts): Courier {
  const {
    mailbox,
    transports,
    report,
    clock = systemClock,
    timers = systemTimers,
    timeoutMs = 5_000,
    retryMs = 200,
    sweepMs = 30_000,
    remedyFor = () => null,
  } = parts;
  const rounds = new Rounds(serve, report, (id) => schedule.later(id, failedMs, () => rounds.ask(id)), timers);
  const order = new Order({ mailbox, bestProof: (name) => transports.get(name)?.traits.bestProof ?? null, clock });
  const holds = new Map<AgentId, Hold & { at: number }>();
  const ages = new Ages(clock);
  const watches = new Watches(transportOf, rounds.ask.bind(rounds));
  const backoff = new Backoff(retryMs, clock);
  const lateness = new Lateness({ mailbox, transportOf, remedyFor });
  const inspector = createInspector({ ...parts, transportOf, markOf });
  const { inspect, inspectAttempt, uncertainOf, finishedOwnDraft } = inspector;
  const inspections = new PendingInspections({ inspect: (id) => inspect(mailbox.delivery(id)), clock });
  const stopping = new AbortController();
  const schedule = new Schedule({ onDue, onSweep, sweepMs, clock, timers });
  const listening = new DisposableStack();

  return {
    async start() {
      for (const delivery of mailbox.deliveriesIn(["uncertain"])) inspections.add(delivery);
      for (const delivery of await mailbox.recover(clock(), "start")) inspections.add(delivery);
      listening.defer(
        mailbox.onComing(
          (message, [recipient, ...others]) => recipient && others.length === 0 && prefetch(recipient.id, message),
        ),
      );
      listening.defer(
        mailbox.onTransitions((changes) => {
          for (const { transition, delivery } of changes)
            if (transition.to === "queued" && transition.verb !== "hold") rounds.ask(delivery.agent);
          schedule.plan(mailbox.nextDueAt());
        }),
      );
      for (const agent of new Set([...inspections.agents(), ...mailbox.waiting()])) rounds.ask(agent);
      schedule.plan(mailbox.nextDueAt());
    },

    wake: (agent) => rounds.ask(agent),

    collect: (agent, request) => collectMail({ mailbox, order, settle, transportOf, clock }, agent, request),

    async reconsider(agent, delivered = []) {
      for (const delivery of [...uncertainOf(agent), ...delivered.flatMap((id) => mailbox.delivery(id) ?? [])])
        await inspect(delivery);
    },

    announce: (agent, message, delivery) => lateness.announce(agent, message, delivery),

    replan() {
      schedule.plan(mailbox.nextDueAt());
      for (const agent of mailbox.waiting()) rounds.ask(agent);
    },

    holdOf: (agent) => holds.get(agent) ?? null,

    async [Symbol.asyncDispose]() {
      stopping.abort();
      listening.dispose();
      schedule.stop();
      await rounds.finished();
      watches.endAll();
    },
  };

  /** One round for one agent: serve until nothing is left that could be served now. */
  async function serve(id: AgentId): Promise<void> {
    if (!(await inspections.cleared(id))) return holdForInspection(id);
    await inspectAgain(id);
    while (!stopping.signal.aborted) {
      const agent = parts.agent(id);
      // A user's mail waits to be read; it is not pushed.
      const heads =
        agent === null || agent.kind === "user"
          ? []
          : [...mailbox.heads(id, clock()), ...noticesFor(agent, mailbox, transportOf)];
      const attempt = agent && (await firstReady(agent, heads));
      if (!attempt) {
        if (holds.get(id)?.reason === "draft" && (await finishedOwnDraft(id))) continue;
        if (!agent || heads.length === 0) return forget(id);
        schedule.sweepSoon();
        return watches.begin(agent);
      }
      // The next write may cover what still tells of the one before, and that may have to go first.
      if (inspections.has(id)) {
        if (!(await inspections.cleared(id))) return holdForInspection(id);
        continue;
      }
      const { transport } = attempt.endpoint;
      const claimed = await mailbox.claim(attempt.delivery.id, {
        lane: "push",
        now: clock(),
        transport,
        authority: authorityOf(transportOf(transport), attempt.message),
      });
      if (claimed === null && hasFailed(mailbox, attempt.delivery)) continue;
      if (claimed === null) return;
      holds.delete(id);
      await deliverOnce({ ...attempt, delivery: claimed, mark: markOf(claimed) });
    }
  }

  /** An earlier attempt has to be inspected first, and its place cannot be read now. */
  async function holdForInspection(id: AgentId): Promise<void> {
    const agent = parts.agent(id);
    if (agent === null) return;
    const detail = `an earlier message to ${agent.name} is still being resolved`;
    for (const delivery of mailbox.heads(id, clock())) await holdBack(agent, delivery, { reason: "busy", detail });
    schedule.later(id, failedMs, () => rounds.ask(id));
  }

  /** What was not found may be found later, when a user has finished typing or a dialog is closed. */
  async function inspectAgain(id: AgentId): Promise<void> {
    const dueMs = inspections.nextInspectionIn(id, uncertainOf(id).length > 0);
    if (dueMs === 0) {
      for (const delivery of uncertainOf(id)) await inspect(delivery);
      inspections.inspected(id);
    }
    const nextMs = inspections.nextInspectionIn(id, uncertainOf(id).length > 0);
    if (nextMs !== null) schedule.later(id, nextMs, () => rounds.ask(id));
  }

  /**
   * The disk takes as long to store a message as an endpoint takes to be read. One that is held is read later
   * anyway.
   */
  function prefetch(id: AgentId, message: Message): void {
    const agent = rounds.isServing(id) || holds.has(id) ? null : parts.agent(id);
    if (agent === null || agent.kind === "user") return;
    try {
      const endpoint = selectEndpoints(agent, message, transportOf)[0]?.endpoint;
      if (endpoint) transportOf(endpoint.transport).prefetch?.(agent, endpoint);
    } catch (fault) {
      // The message is stored all the same; the next attempt meets the fault again.
      report(`prefetch mail for ${agent.name}`, fault);
    }
  }

  /** The most urgent delivery that some endpoint would take now. The others learn why they wait. */
  async function firstReady(agent: Agent, heads: readonly Delivery[]): Promise<Attempt | null> {
    const waiting = [...heads];
    for (const delivery of waiting) {
      const message = mailbox.message(delivery.messageId)!;
      const earlier = order.mayComeBefore({ message, delivery });
      if (earlier !== null) {
        const words = earlier === "fetched" ? `${agent.name} is reading an` : "it is not known yet what became of an";
        await holdBack(agent, delivery, { reason: "busy", detail: `${words} earlier message of ${message.from.name}` });
        schedule.later(agent.id, retryMs, () => rounds.ask(agent.id));
        const behind = order.firstBehind(delivery, clock());
        if (behind !== null) waiting.push(behind);
        continue;
      }
      let hold: Hold | null = null;
      const gone = new Map<Endpoint, Hold>();
      for (const { endpoint, lastResort } of selectEndpoints(agent, message, transportOf)) {
        if (lastResort && hold !== null) continue;
        const attempt: Attempt = { message, delivery, agent, endpoint, mark: markOf(delivery) };
        let readiness = await readinessOf(attempt);
        const pausing = readiness.kind === "ready" ? backoff.pausing(agent.id, endpoint.transport) : null;
        if (pausing !== null) readiness = pausing;
        if (readiness.kind === "ready") return { ...attempt, observed: readiness.observed };
        if (readiness.kind === "held" && readiness.againInMs !== undefined)
          schedule.later(agent.id, readiness.againInMs, () => rounds.ask(agent.id));
        if (readiness.kind === "held") hold ??= readiness.hold;
        else gone.set(endpoint, { reason: "offline", detail: readiness.detail });
      }
      const now = parts.agent(agent.id);
      if (now !== null) await lateness.announce(now, message, delivery);
      // Where the program itself runs, its end is known best.
      await holdBack(
        agent,
        delivery,
        hold ?? gone.get(agent.endpoints[0]!) ?? gone.values().next().value ?? notRunning(agent),
      );
    }
    return null;
  }

  /** An endpoint that cannot even be read holds its mail; the sweep tries again. */
  async function readinessOf(attempt: Attempt): Promise<Readiness> {
    try {
      return await transportOf(attempt.endpoint.transport).ready(attempt);
    } catch (thrown) {
      report(`check whether ${attempt.agent.name} is ready by ${attempt.endpoint.transport}`, thrown);
      return { kind: "held", hold: { reason: "error", detail: asTielineError(thrown).message } };
    }
  }

  /** One attempt. Whatever a transport throws after it was asked to write may have been written. */
  async function deliverOnce(attempt: Attempt): Promise<void> {
    const transport = transportOf(attempt.endpoint.transport);
    const signal = AbortSignal.any([stopping.signal, timers.timeout(timeoutMs + takingMs(attempt.message))]);
    let outcome: Outcome;
    try {
      outcome = await transport.deliver(attempt, signal);
    } catch (thrown) {
      report(`deliver ${attempt.message.tag} by ${transport.name}`, thrown);
      outcome = { kind: "unknown", detail: asTielineError(thrown).message };
    }
    if (outcome.kind === "unknown") {
      // What the attempt says of itself is more precise than an inspection that found nothing.
      const found = await inspectAttempt(attempt);
      if (found.kind === "unknown") inspections.add(attempt.delivery);
      else outcome = found;
    }
    outcome = withNotes(slowedDown(attempt, outcome), transport, attempt);
    const authority = ("authority" in outcome && outcome.authority) || authorityOf(transport, attempt.message);
    await settle(attempt.delivery, outcome, { transport: transport.name, authority });
    if (outcome.kind === "unknown") await inspectAgain(attempt.agent.id);
  }

  /** What goes back into the queue waits before the next attempt, ever longer, and says so. */
  function slowedDown({ agent, endpoint }: Attempt, outcome: Outcome): Outcome {
    const { transport } = endpoint;
    switch (outcome.kind) {
      case "held":
        return { ...outcome, hold: backoff.refused(agent.id, transport, outcome.hold) };
      case "gone":
      case "absent":
        return {
          ...outcome,
          detail: backoff.refused(agent.id, transport, { reason: "offline", detail: outcome.detail }).detail,
        };
      default:
        backoff.ended(agent.id, transport);
        return outcome;
    }
  }

  /**
   * A disk that is full for a moment must not block the lane or repeat the attempt: the result is kept and tried again.
   */
  async function settle(
    delivery: Delivery,
    outcome: Outcome,
    via: { transport: string; authority: Authority },
  ): Promise<void> {
    for (;;) {
      try {
        const settled = await mailbox.settle(delivery.id, outcome, via);
        if (settled.state === "queued" && settled.reason !== null) {
          holds.set(settled.agent, {
            reason: settled.reason,
            detail: settled.detail ?? settled.reason,
            at: settled.reasonAt ?? clock(),
          });
        }
        const [agent, message] = [parts.agent(settled.agent), mailbox.message(settled.messageId)];
        if (agent && message) await lateness.takeBack(agent, message, settled);
        return;
      } catch (thrown) {
        report(`settle delivery ${delivery.id}`, thrown);
        if (stopping.signal.aborted) return;
        await timers.pause(1_000, stopping.signal);
      }
    }
  }

  /** A reason that changes many times a second is written down once a second. */
  async function holdBack({ id }: Agent, delivery: Delivery, hold: Hold): Promise<void> {
    const known = holds.get(id);
    holds.set(id, { ...hold, at: known?.reason === hold.reason ? known.at : clock() });
    const waitMs = delivery.reason === null ? 0 : holdMs - ages.of(String(delivery.id), delivery.updatedAt);
    if (waitMs > 0 && hold.detail !== delivery.detail) schedule.later(id, waitMs, () => rounds.ask(id));
    else await mailbox.hold(delivery.id, hold);
  }

  function forget(id: AgentId): void {
    holds.delete(id);
    backoff.forget(id);
    watches.end(id);
  }

  function onDue(): void {
    const now = clock();
    void settleDue(now).catch((fault: unknown) => {
      report("expire", fault);
      schedule.plan(clock() + failedMs);
    });
  }

  async function settleDue(now: number): Promise<void> {
    await mailbox.expire(now);
    for (const delivery of await mailbox.recover(now, "leases")) {
      inspections.add(delivery);
      rounds.ask(delivery.agent);
    }
    for (const agent of mailbox.waiting()) rounds.ask(agent);
    schedule.plan(mailbox.nextDueAt());
  }

  function onSweep(): boolean {
    for (const agent of mailbox.waiting()) rounds.ask(agent);
    return watches.size > 0;
  }

  function markOf(delivery: Delivery): string {
    return `${mailbox.id}:${delivery.id}:${delivery.claimedAt ?? 0}`;
  }

  function transportOf(name: string): Transport {
    const transport = transports.get(name);
    if (transport === undefined) throw new Error(`no transport is called ${name}`);
    return transport;
  }
}

const authorityOf = (transport: Transport, message: Message): Authority =>
  transport.authorityOf?.(message) ?? transport.traits.authority;

function notRunning({ name, state, stateReason }: Agent): Hold {
  if (state === "starting") return { reason: "starting", detail: `${name} is starting` };
  return { reason: "offline", detail: notRunningWords(name, stateReason) };
}
