/**
 * What an agent program does with the texts it takes: it puts them into its conversation, writes them down a little
 * later, asks its model, and writes down the answer. A process that is killed loses what it had not written down yet,
 * and a program that resumes the conversation does not have it.
 */

/** One line of Claude Code's transcript. */
type Line = Readonly<Record<string, unknown>>;

export interface ConversationEvents {
  after(ms: number, run: () => void): void;
  /** The tags of Tieline's messages that came into the conversation. */
  readonly took: (tags: readonly string[]) => void;
  /** These are in the model's context now, in this order. */
  readonly entered: (tags: readonly string[]) => void;
  /** The model was asked with these in its context for the first time. */
  readonly asked: (tags: readonly string[]) => void;
  /** The conversation lost these with its process. */
  readonly forgot: (tags: readonly string[]) => void;
  readonly working: (isWorking: boolean) => void;
  /** Something was written down. */
  readonly wrote: () => void;
}

export interface TurnTimes {
  /** Until the prompt is in the file. */
  readonly writeMs: number;
  readonly askMs: number;
  readonly answerMs: number;
  readonly fails: boolean;
}

const tagsIn = (text: string): string[] =>
  [...text.matchAll(/\[(MSG_[A-Z0-9_]+_[0-9a-f]{8}) from /g)].map(([, tag]) => tag!);

export class Conversation {
  /** What is in the file. */
  file = Buffer.alloc(0);
  #unwritten: Line[] = [];
  #unwrittenTags: string[] = [];
  /** In the context, and not yet part of a request. */
  #unasked: string[] = [];
  #waiting: { readonly text: string; readonly times: TurnTimes }[] = [];
  #lines = 0;
  #epoch = 0;
  #isWorking = false;

  constructor(
    readonly id: string,
    private readonly events: ConversationEvents,
  ) {}

  get isWorking(): boolean {
    return this.#isWorking;
  }

  /** A prompt: begins a turn, or waits for the end of the one that runs. */
  prompt(text: string, times: TurnTimes): void {
    this.events.took(tagsIn(text));
    if (!this.#isWorking) return this.#turn(text, times);
    this.#waiting.push({ text, times });
    this.#write({ type: "queue-operation", operation: "enqueue", content: text });
    this.events.wrote();
  }

  /** Text that a hook adds to a running turn, or to one that it keeps from ending. */
  add(text: string, writeMs: number): void {
    const tags = tagsIn(text);
    this.events.took(tags);
    this.#say({ type: "attachment", attachment: { type: "hook_additional_context", content: text } }, tags, writeMs);
    this.#enter(tags);
  }

  /** The process is gone: what was not written down is not part of the conversation any more. */
  kill(): void {
    this.#epoch++;
    const waiting = this.#waiting.flatMap(({ text }) => tagsIn(text));
    const forgotten = [...this.#unwrittenTags, ...waiting];
    this.events.forgot(forgotten);
    this.#unasked = this.#unasked.filter((tag) => !forgotten.includes(tag));
    this.#unwritten = [];
    this.#unwrittenTags = [];
    this.#waiting = [];
    this.#isWorking = false;
  }

  #turn(text: string, times: TurnTimes): void {
    const tags = tagsIn(text);
    this.#isWorking = true;
    this.events.working(true);
    this.#say({ type: "user", message: { content: text } }, tags, times.writeMs);
    this.#enter(tags);
    this.#later(times.askMs, () => {
      const asked = this.#unasked;
      if (!times.fails) {
        this.#unasked = [];
        this.events.asked(asked);
      }
      this.#later(times.answerMs, () => this.#answer(times.fails));
    });
  }

  #enter(tags: readonly string[]): void {
    this.#unasked.push(...tags);
    this.events.entered(tags);
  }

  #answer(fails: boolean): void {
    // What was added since the model was asked is part of its next request, within the same turn.
    if (!fails && this.#unasked.length > 0) {
      this.events.asked(this.#unasked);
      this.#unasked = [];
    }
    this.#flush();
    const words = [{ type: "text", text: fails ? "API Error: overloaded" : "done" }];
    this.#write({
      type: "assistant",
      ...(fails && { isApiErrorMessage: true }),
      message: { id: `answer ${this.#lines}`, model: "simulated", content: words },
    });
    this.#isWorking = false;
    this.events.working(false);
    this.events.wrote();
    const next = this.#waiting.shift();
    if (next) this.#turn(next.text, next.times);
  }

  #say(line: Line, tags: readonly string[], writeMs: number): void {
    this.#unwritten.push(line);
    this.#unwrittenTags.push(...tags);
    this.#later(writeMs, () => this.#flush());
  }

  #flush(): void {
    if (this.#unwritten.length === 0) return;
    for (const line of this.#unwritten) this.#write(line);
    this.#unwritten = [];
    this.#unwrittenTags = [];
    this.events.wrote();
  }

  #write(line: Line): void {
    const [uuid, parentUuid] = [
      `${this.id}-${++this.#lines}`,
      this.#lines === 1 ? null : `${this.id}-${this.#lines - 1}`,
    ];
    this.file = Buffer.concat([this.file, Buffer.from(`${JSON.stringify({ ...line, uuid, parentUuid })}\n`)]);
  }

  #later(ms: number, run: () => void): void {
    const epoch = this.#epoch;
    this.events.after(ms, () => epoch === this.#epoch && run());
  }
}
