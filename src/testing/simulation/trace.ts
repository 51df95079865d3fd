/** What happened in a run, line by line: what the world did, what Tieline did, what each party believed. */
export type Party = "world" | "tieline" | "model" | "user" | "sender" | "oracle";

export class Trace {
  readonly #lines: string[] | null;

  constructor(
    private readonly elapsed: () => number,
    /** False: nothing is kept, for speed. */
    isKept: boolean,
  ) {
    this.#lines = isKept ? [] : null;
  }

  /** `words` is called only where the trace is kept. */
  note(party: Party, words: () => string): void {
    this.#lines?.push(`${this.elapsed().toFixed(1).padStart(10)} ms  ${party.padEnd(7)}  ${words()}`);
  }

  get text(): string {
    return (this.#lines ?? []).map((line) => `${line}\n`).join("");
  }
}
