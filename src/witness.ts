/**
 * Looks for delivered messages in the programs' own transcripts, and says when one is there: that the model was
 * given it nobody else can know. Reads only while something is looked for.
 */
import { dirname } from "node:path";
import type { Mailbox } from "./mailbox/port.ts";
import type { Agent } from "./model/agent.ts";
import { provesSeen, type Delivery, type Trace } from "./model/delivery.ts";
import { systemClock, type AgentId, type Clock, type DeliveryId } from "./model/ids.ts";
import type { Message } from "./model/message.ts";
import { nextTurn } from "./os/nextTurn.ts";
import { runForever } from "./os/runForever.ts";
import { wholeLines } from "./os/wholeLines.ts";
import { createBell, renewWatcher, type Bell, type Watcher } from "./workspace/watching.ts";

export interface WitnessParts {
  readonly mailbox: Pick<Mailbox, "onTransitions" | "deliveriesIn" | "delivery" | "message" | "confirm" | "warn">;
  readonly agent: (id: AgentId) => Agent | null;
  /** The transcript of the agent's session, as far as it has one, and what counts in it. */
  readonly transcript: (agent: Agent) => Transcript | null;
  /** What else the receipt should say, once it is known. */
  readonly detailOf?: (delivery: DeliveryId) => Promise<string | undefined>;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
}

export interface Transcript {
  /** null: nothing was written yet. */
  readonly path: string | null;
  /** The directories in which the program keeps its transcripts. A file elsewhere proves nothing, nor one of another user. */
  readonly below: readonly string[];
  proves(line: string, message: Message): boolean;
  /** The program has it, and will give it to its model later. */
  queues?(line: string, message: Message): boolean;
}

/** A session that has not written its transcript yet gives no signal to wait for. */
const missingFileMs = 50;
const sweepMs = 2_000;
/** A delivery that left no trace in this time after the agent became idle gets a warning. */
const warnAfterMs = 30_000;
const giveUpAfterMs = 3_600_000;
/** How far back a file is read that was not looked at before. */
const lookBackBytes = 4 * 1024 * 1024;

export class Witness implements AsyncDisposable {
  private readonly stopping = new AbortController();
  private readonly searches = new Map<AgentId, Search>();
  private readonly tails = new Map<string, Tail>();
  private readonly clock: Clock;
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: WitnessParts) {
    this.clock = parts.clock ?? systemClock;
  }

  start(): void {
    const { mailbox } = this.parts;
    this.stopListening = mailbox.onTransitions((changes) => {
      for (const { delivery, message } of changes) this.consider(delivery, message);
    });
    for (const delivery of mailbox.deliveriesIn(["handed", "uncertain"])) this.consider(delivery, mailbox.message(delivery.messageId));
  }

  /** Whether the agent's program writes down what its model is given, where we can read it. */
  canProve(agent: Agent): boolean {
    return this.parts.transcript(agent) !== null;
  }

  /** What the transcript says of the message; null when there is none that could. */
  async traceOf(agent: Agent, message: Message): Promise<Trace | null> {
    const transcript = this.parts.transcript(agent);
    if (transcript === null) return null;
    let queued = false;
    if (transcript.path !== null) {
      for await (const line of new Tail(transcript.path, transcript.below, 0).lines()) {
        if (transcript.proves(line, message)) return "given";
        queued ||= transcript.queues?.(line, message) ?? false;
      }
    }
    return queued ? "queued" : "none";
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.stopping.abort();
    await Promise.all([...this.searches.values()].map((search) => search.done));
  }

  private consider(delivery: Delivery, message: Message | null): void {
    if (message === null || !["handed", "uncertain"].includes(delivery.state)) return;
    if (delivery.proof !== null && provesSeen(delivery.proof)) return;
    const agent = this.parts.agent(delivery.agent);
    if (agent === null || this.parts.transcript(agent) === null) return;
    const search = this.searches.get(agent.id);
    if (search) {
      search.wanted.set(delivery.id, message);
      search.hasMore = true;
      search.bell.ring();
      return;
    }
    const begun: Search = { wanted: new Map([[delivery.id, message]]), hasMore: true, bell: createBell(this.stopping.signal), done: Promise.resolve() };
    this.searches.set(agent.id, begun);
    begun.done = this.search(agent, begun);
  }

  /** Until nothing is wanted any more. */
  private async search({ id, name }: Agent, search: Search): Promise<void> {
    const { wanted, bell } = search;
    const over = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, over.signal]);
    let watcher: Watcher | undefined;
    // From here on a new delivery begins a search of its own.
    const end = (): void => {
      this.searches.delete(id);
      over.abort();
    };
    const step = async (): Promise<void> => {
      const agent = this.parts.agent(id);
      const transcript = agent && this.parts.transcript(agent);
      if (!transcript) return end();
      if (transcript.path !== null) watcher = renewWatcher(watcher, dirname(transcript.path), bell.ring);
      try {
        await this.look(transcript, search);
      } finally {
        await this.dropStale(agent, wanted);
      }
      if (wanted.size === 0) end();
      else await bell.wait(watcher ? sweepMs : missingFileMs);
    };
    // It may be readable again; until then it is told now and then what is wrong.
    await runForever(`read the transcript of ${name}`, signal, step, this.parts.report, { mostMs: sweepMs });
    watcher?.close();
    bell[Symbol.dispose]();
  }

  private async look(transcript: Transcript, search: Search): Promise<void> {
    if (transcript.path === null) return;
    const tail = this.tailOf(transcript.path, transcript.below);
    // A program may have written a message down before we settled that it was handed over.
    if (search.hasMore) tail.goBack();
    search.hasMore = false;
    for await (const line of tail.lines()) this.match(line, transcript, search.wanted);
  }

  private match(line: string, transcript: Transcript, wanted: Search["wanted"]): void {
    for (const [delivery, message] of wanted) {
      if (!transcript.proves(line, message)) continue;
      wanted.delete(delivery);
      void this.confirm(delivery).catch((fault: unknown) => this.parts.report(`confirm ${message.tag}`, fault));
    }
  }

  private async confirm(delivery: DeliveryId): Promise<void> {
    const { mailbox, detailOf } = this.parts;
    const told = await detailOf?.(delivery);
    const known = mailbox.delivery(delivery);
    // Why it was uncertain says nothing once it is certain.
    const detail = told ?? (known?.state === "uncertain" ? undefined : known?.detail);
    await mailbox.confirm(delivery, "transcript", detail ?? undefined);
  }

  private async dropStale(agent: Agent, wanted: Search["wanted"]): Promise<void> {
    for (const id of [...wanted.keys()]) {
      const delivery = this.parts.mailbox.delivery(id);
      if (delivery === null || !["handed", "uncertain"].includes(delivery.state)) wanted.delete(id);
      else if (this.clock() - delivery.updatedAt > giveUpAfterMs) wanted.delete(id);
      else if (agent.state === "idle" && this.clock() - Math.max(agent.stateAt, delivery.updatedAt) > warnAfterMs && delivery.warning === null) {
        await this.parts.mailbox.warn(id, "it left no trace in the program's transcript");
      }
    }
  }

  private tailOf(path: string, below: readonly string[]): Tail {
    let tail = this.tails.get(path);
    if (tail === undefined) this.tails.set(path, (tail = new Tail(path, below, lookBackBytes)));
    return tail;
  }
}

interface Search {
  readonly wanted: Map<DeliveryId, Message>;
  /** Something is wanted since the last look, and may stand in what was read before. */
  hasMore: boolean;
  readonly bell: Bell;
  done: Promise<void>;
}

/** Whole lines of a growing file. A file that shrank or was replaced is read from its beginning. */
class Tail {
  private offset: number | null = null;
  private inode = 0;

  constructor(
    private readonly path: string,
    private readonly below: readonly string[],
    /** How much of what is there already counts; 0: all of it. */
    private readonly lookBack: number,
  ) {}

  /** What counts of the lines before is read once more; the first of them perhaps not from its beginning. */
  goBack(): void {
    if (this.offset !== null) this.offset = Math.max(0, this.offset - this.lookBack);
  }

  /** What is new, piece by piece: other work goes on in between. */
  async *lines(): AsyncIterable<string> {
    for (;;) {
      const found = wholeLines(this.path, { below: this.below }, ({ size, inode }) => {
        if (this.offset === null) return this.lookBack === 0 ? 0 : Math.max(0, size - this.lookBack);
        return inode === this.inode && size >= this.offset ? this.offset : 0;
      });
      if (found === null) return;
      this.inode = found.inode;
      this.offset = found.end;
      yield* found.bytes.toString("utf8").split("\n");
      if (!found.more) return;
      await nextTurn();
    }
  }
}
