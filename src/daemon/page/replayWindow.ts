/**
 * Which numbers of a tab's requests were used. Numbers come nearly in order, so only the newest are remembered one by
 * one.
 */
export class ReplayWindow {
  readonly #width: number;
  readonly #seen = new Set<number>();
  #highest = 0;

  constructor(width = 1024) {
    this.#width = width;
  }

  /** True once for each number; what is too old to tell counts as used. */
  accept(number: number): boolean {
    if (number <= this.#highest - this.#width || this.#seen.has(number)) return false;
    this.#seen.add(number);
    if (number > this.#highest) {
      this.#highest = number;
      for (const one of this.#seen) {
        if (one > number - this.#width) break;
        this.#seen.delete(one);
      }
    }
    return true;
  }
}
