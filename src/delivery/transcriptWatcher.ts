/**
 * Follows delivered messages in the programs' own transcripts. A program writes a message down before it asks its
 * model, so that alone proves only that the conversation holds it; the model's answer behind it proves that the model
 * has read it. Reads only while a message is searched for.
 */
import { dirname } from "node:path";
import type { Mailbox } from "../mailbox/port.ts";
import type { Agent } from "../model/agent.ts";
import { provesSeen, type Delivery, type TranscriptProof } from "../model/delivery.ts";
import { elapsedFor, type AgentId, type Clock, type DeliveryId, type Elapsed } from "../model/ids.ts";
import type { Message } from "../model/message.ts";
import { Ages } from "../os/ages.ts";
import { systemFiles, type GrowingFiles } from "../os/growingFiles.ts";
import { runForever } from "../os/runForever.ts";
import { modelFailed, type ModelWatch } from "./outages.ts";
import type { Transcript, TranscriptFile } from "../providers/transcripts/port.ts";
import type { Entry } from "../providers/transcripts/entries.ts";
import { Progress, type News } from "../providers/transcripts/progress.ts";
import { Tail } from "../providers/transcripts/tail.ts";
import { findProof } from "../providers/transcripts/findProof.ts";
import { systemTimers, type Timers } from "../os/timers.ts";
import { createBell, type Bell, type Watcher } from "../os/watchFolder.ts";

export interface TranscriptWatcherParts {
  readonly mailbox: Pick<
    Mailbox,
    "onTransitions" | "deliveriesIn" | "delivery" | "message" | "confirm" | "warn" | "settle"
  >;
  readonly agent: (id: AgentId) => Agent | null;
  /**
   * The transcript of the agent's conversation, as far as it was written to since then; null: its program writes none
   * that we know of.
   */
  readonly transcript: (agent: Agent, since?: number) => Transcript | null;
  /** A message that went to the agent alone is in this conversation: that is where the agent is. */
  readonly found?: (agent: Agent, conversation: string) => void;
  /** What else the receipt should say, once it is known. */
  readonly detailOf?: (delivery: DeliveryId) => Promise<string | undefined>;
  /** Told when the model of an agent fails with a message in its context, or answers. */
  readonly model?: ModelWatch;
  readonly report: (context: string, fault: unknown) => void;
  readonly clock?: Clock;
  readonly timers?: Timers;
  readonly files?: GrowingFiles;
}

/** A session that has not written its transcript yet gives no signal to wait for. */
const missingFileMs = 50;
const sweepMs = 2_000;
const slowSweepMs = 30_000;
/** A delivery that left no trace in this time after the agent became idle gets a warning. */
const warnAfterMs = 30_000;
const giveUpAfterMs = 24 * 3_600_000;
/** After this time without news, the file's own changes are enough to read again. */
const quietAfterMs = 60_000;
/** A conversation that was left for another one, of which nothing is written yet, is given up after this time. */
const unwrittenMs = 3_000;

export class TranscriptWatcher implements AsyncDisposable {
  private readonly stopping = new AbortController();
  private readonly searches = new Map<AgentId, Search>();
  private readonly tails = new Map<string, Tail>();
  private readonly ages: Ages;
  private readonly elapsed: Elapsed;
  private readonly timers: Timers;
  private stopListening: () => void = () => undefined;

  constructor(private readonly parts: TranscriptWatcherParts) {
    this.ages = new Ages(parts.clock);
    this.elapsed = elapsedFor(parts.clock);
    this.timers = parts.timers ?? systemTimers;
  }

  start(): void {
    const { mailbox } = this.parts;
    this.stopListening = mailbox.onTransitions((changes) => {
      for (const { delivery, message } of changes) this.consider(delivery, message);
    });
    for (const delivery of mailbox.deliveriesIn(["delivered", "uncertain"]))
      this.consider(delivery, mailbox.message(delivery.messageId));
  }

  /** Whether the agent's program writes down what its model is given, where we can read it. */
  canProve(agent: Agent): boolean {
    return this.parts.transcript(agent) !== null;
  }

  /** What the transcript says of the message; null when there is none that could. */
  async proofOf(agent: Agent, message: Message): Promise<TranscriptProof | null> {
    const transcript = this.parts.transcript(agent);
    return transcript && findProof(transcript, message, this.parts);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.stopListening();
    this.stopping.abort();
    await Promise.all([...this.searches.values()].map((search) => search.done));
  }

  private consider(delivery: Delivery, message: Message | null): void {
    if (message === null || !isOpen(delivery)) return;
    const agent = this.parts.agent(delivery.agent);
    if (agent === null || this.parts.transcript(agent) === null) return;
    const search = this.searches.get(agent.id);
    if (search) {
      const known = search.wanted.get(delivery.id) ?? search.fresh.get(delivery.id);
      if (known?.progress.fetched === isFetched(delivery)) return;
      search.wanted.delete(delivery.id);
      search.fresh.set(delivery.id, progressOf(delivery, message));
      search.bell.ring();
      return;
    }
    const begun: Search = {
      wanted: new Map(),
      fresh: new Map([[delivery.id, progressOf(delivery, message)]]),
      leftAt: null,
      bell: createBell(this.stopping.signal, this.timers),
      done: Promise.resolve(),
    };
    this.searches.set(agent.id, begun);
    begun.done = this.search(agent, begun);
  }

  /** Until nothing is wanted any more. */
  private async search({ id, name }: Agent, search: Search): Promise<void> {
    const { wanted, fresh, bell } = search;
    using watchers = new Watchers(this.parts.files ?? systemFiles, bell.ring);
    const over = new AbortController();
    const signal = AbortSignal.any([this.stopping.signal, over.signal]);
    let newsAt = this.elapsed();
    // From here on a new delivery begins a search of its own.
    const end = (): void => {
      this.searches.delete(id);
      over.abort();
    };
    const step = async (): Promise<void> => {
      const agent = this.parts.agent(id);
      const transcript = agent && this.parts.transcript(agent, this.earliest(search));
      if (!transcript) return end();
      const watched = watchers.watch(transcript.files.map(({ path }) => dirname(path)));
      try {
        if (await this.readNew(agent, transcript, search)) newsAt = this.elapsed();
      } finally {
        await this.dropStale(agent, wanted);
      }
      const patienceMs = this.elapsed() - newsAt > quietAfterMs ? slowSweepMs : sweepMs;
      if (wanted.size + fresh.size === 0) end();
      else await bell.wait(watched ? patienceMs : missingFileMs);
    };
    // It may be readable again; until then the fault is reported now and then.
    const { timers } = this;
    await runForever(`read the transcript of ${name}`, signal, step, this.parts.report, { mostMs: sweepMs, timers });
    bell[Symbol.dispose]();
  }

  /** When the first of what is wanted went out. */
  private earliest({ wanted, fresh }: Search): number {
    const times = [...wanted.keys(), ...fresh.keys()].map((id) => this.parts.mailbox.delivery(id)?.claimedAt ?? 0);
    return Math.min(...times);
  }

  /** Whether anything was written that says something. */
  private async readNew(agent: Agent, transcript: Transcript, search: Search): Promise<boolean> {
    const { wanted, fresh } = search;
    const begun = [...fresh];
    fresh.clear();
    for (const [id, one] of begun) wanted.set(id, one);
    let isNews = false;
    for (const file of transcript.files) {
      const tail = this.tailOf(file.path, transcript);
      // A program may have written a message down before we settled that it was delivered.
      const earlier = [...tail.recent];
      for (const [id, one] of begun) for (const entry of earlier) await this.take(agent, id, one, entry, file, wanted);
      for await (const entry of tail.read()) {
        isNews = true;
        if (entry.sign?.kind === "answer") this.parts.model?.answered(agent.id);
        for (const [id, one] of [...wanted]) await this.take(agent, id, one, entry, file, wanted);
      }
    }
    await this.noticeLeaving(agent.id, transcript.files, search);
    return isNews;
  }

  private async take(
    agent: Agent,
    id: DeliveryId,
    { message, progress }: Wanted,
    entry: Entry,
    file: TranscriptFile,
    wanted: Search["wanted"],
  ): Promise<void> {
    const news = wanted.has(id) ? progress.take(entry, file) : null;
    if (news === null) return;
    if (news.kind === "answered" || news.kind === "discarded") wanted.delete(id);
    if (news.kind === "held" && file.conversation !== null) this.parts.found?.(agent, file.conversation);
    await this.tell(agent, id, message, news).catch((fault: unknown) =>
      this.parts.report(`record the state of ${message.tag}`, fault),
    );
  }

  private async tell(agent: Agent, id: DeliveryId, message: Message, news: News): Promise<void> {
    const { mailbox, model } = this.parts;
    switch (news.kind) {
      case "held":
        return void (await mailbox.confirm(id, "submitted", "the conversation holds it"));
      case "answered":
        return this.confirm(id);
      case "failed": {
        const known = mailbox.delivery(id)?.warning ?? null;
        await mailbox.warn(id, modelFailed(news.error));
        if (known === null) model?.failed(agent, news.error, message);
        return undefined;
      }
      case "discarded":
        return this.discard(id, "it was taken back in the conversation before the model read it");
      case "queued":
        return undefined;
    }
  }

  private async confirm(delivery: DeliveryId): Promise<void> {
    const { mailbox, detailOf } = this.parts;
    const told = await detailOf?.(delivery);
    const known = mailbox.delivery(delivery);
    // Why it was uncertain says nothing once it is certain.
    const detail = told ?? (known?.state === "uncertain" || known?.warning !== null ? undefined : known.detail);
    await mailbox.confirm(delivery, "transcript", detail ?? undefined);
  }

  private async discard(delivery: DeliveryId, detail: string): Promise<void> {
    await this.parts.mailbox.settle(delivery, { kind: "discarded", detail }, { transport: null, authority: null });
  }

  /**
   * The agent is in another conversation now. What the model had not read in the one before is lost, unless the new one
   * holds it as well, as a copy does.
   */
  private async noticeLeaving(id: AgentId, read: readonly TranscriptFile[], search: Search): Promise<void> {
    const agent = this.parts.agent(id);
    const { conversation, files } = (agent && this.parts.transcript(agent)) ?? { conversation: null, files: [] };
    const left = [...search.wanted].filter(
      ([
        ,
        {
          progress: { file },
        },
      ]) => conversation !== null && file !== null && file.conversation !== conversation,
    );
    if (left.length === 0) {
      search.leftAt = null;
      return undefined;
    }
    search.leftAt ??= this.elapsed();
    const isNew = (file: TranscriptFile): boolean => file.conversation === conversation;
    if (!read.some(isNew) && files.some(isNew)) return search.bell.ring();
    if (!read.some(isNew) && this.elapsed() - search.leftAt < unwrittenMs) return undefined;
    for (const [delivery] of left) {
      search.wanted.delete(delivery);
      await this.discard(delivery, "the conversation was left for another one before the model read it");
    }
    return undefined;
  }

  private async dropStale(agent: Agent, wanted: Search["wanted"]): Promise<void> {
    for (const [id, { progress }] of [...wanted]) {
      const delivery = this.parts.mailbox.delivery(id);
      if (delivery === null || !isOpen(delivery)) wanted.delete(id);
      else if (this.ages.of(String(id), delivery.updatedAt) > giveUpAfterMs) wanted.delete(id);
      else if (agent.state === "idle" && this.quietMs(agent, delivery) > warnAfterMs && delivery.warning === null) {
        await this.parts.mailbox.warn(
          id,
          progress.file === null
            ? "it left no trace in the program's transcript"
            : "the turn ended without an answer; the text is in the conversation and goes with the next prompt",
        );
      }
    }
  }

  /** Since when neither the agent nor the delivery has changed. */
  private quietMs(agent: Agent, delivery: Delivery): number {
    return Math.min(this.ages.of(agent.id, agent.stateAt), this.ages.of(String(delivery.id), delivery.updatedAt));
  }

  private tailOf(path: string, transcript: Transcript): Tail {
    let tail = this.tails.get(path);
    if (tail === undefined) {
      tail = new Tail(path, transcript.below, transcript.reader(), this.parts);
      this.tails.set(path, tail);
    }
    return tail;
  }
}

/** Whether it was delivered, perhaps, and the model may not have read it. */
const isOpen = ({ state, proof }: Delivery): boolean =>
  ["delivered", "uncertain"].includes(state) && !(proof !== null && provesSeen(proof));

/** Whether the agent got the text by a tool call of its own, at once or after a summary. */
const isFetched = ({ transport, notes }: Delivery): boolean =>
  transport === "pull" || notes.some(({ code }) => code === "fetched");

const progressOf = (delivery: Delivery, message: Message): Wanted => ({
  message,
  progress: new Progress(message, isFetched(delivery)),
});

interface Wanted {
  readonly message: Message;
  readonly progress: Progress;
}

interface Search {
  readonly wanted: Map<DeliveryId, Wanted>;
  /** Wanted since the last read; it may be in what was read before. */
  readonly fresh: Map<DeliveryId, Wanted>;
  /** Since when the agent is in another conversation than some of what is wanted. */
  leftAt: number | null;
  readonly bell: Bell;
  done: Promise<void>;
}

/** One watcher for each folder that something may be written in. */
class Watchers implements Disposable {
  private readonly byFolder = new Map<string, Watcher>();

  constructor(
    private readonly files: Pick<GrowingFiles, "renewWatcher">,
    private readonly ring: () => void,
  ) {}

  /** Whether all of them are watched, and there are any. */
  watch(folders: readonly string[]): boolean {
    const wanted = new Set(folders);
    for (const [folder, watcher] of this.byFolder) if (!wanted.has(folder)) this.close(folder, watcher);
    for (const folder of wanted) {
      const watcher = this.files.renewWatcher(this.byFolder.get(folder), folder, this.ring);
      if (watcher) this.byFolder.set(folder, watcher);
      else this.byFolder.delete(folder);
    }
    return wanted.size > 0 && [...wanted].every((folder) => this.byFolder.has(folder));
  }

  [Symbol.dispose](): void {
    for (const [folder, watcher] of [...this.byFolder]) this.close(folder, watcher);
  }

  private close(folder: string, watcher: Watcher): void {
    watcher.close();
    this.byFolder.delete(folder);
  }
}
