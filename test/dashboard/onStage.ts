import { afterAll, describe } from "bun:test";
import type { Locator } from "playwright-core";
import { lackOfChromium, startStage, type Stage, type Visit } from "./stage.ts";

/** A team at work, and a page that looks at it. */
export interface Seat extends Visit {
  readonly stage: Stage;
  /** Goes to a view, and sees it. */
  show(hash: string): Promise<void>;
  card(agent: string): Locator;
}

/** Tests on a stage of their own. Without a browser they are skipped, and nothing is started. */
export async function onStage(
  name: string,
  tests: (seat: Seat) => void,
  options: Parameters<typeof startStage>[0] = {},
): Promise<void> {
  if (lackOfChromium !== null) return describe.skip(`${name} (${lackOfChromium})`, () => tests({} as Seat));
  const stage = await startStage(options);
  const visit = await stage.visit();
  const { page } = visit;
  const seat: Seat = {
    ...visit,
    stage,
    async show(hash) {
      await page.evaluate((to) => (location.hash = to), hash);
      await page.locator(`.view.${hash.split(/[/?]/)[1]}`).waitFor();
    },
    card: (agent) => page.locator(`.card[data-agent="${agent}"]`),
  };
  describe(name, () => {
    afterAll(() => stage[Symbol.asyncDispose]());
    tests(seat);
  });
}
