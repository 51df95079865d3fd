/** Conditions that a test waits for; checked again whenever a change is signalled. */
export class Conditions {
  readonly #checks = new Set<() => void>();

  readonly changed = (): void => {
    for (const check of this.#checks) check();
  };

  readonly until = (holds: () => boolean): Promise<void> =>
    new Promise((resolve) => {
      const check = (): void => {
        if (!holds()) return;
        this.#checks.delete(check);
        resolve();
      };
      this.#checks.add(check);
      check();
    });
}
