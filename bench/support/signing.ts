/**
 * What signing costs a request of the dashboard, in Chromium: a POST with a body of 1 kB, signed after the daemon has
 * proved itself, against the same with a token. One after the other, and twelve at once. The target is 3 ms more for
 * one.
 */
import type { Browser } from "playwright-core";
import type { BenchHome } from "../../src/testing/benchHome.ts";
import { median, ms, quantile } from "./measure.ts";
import type { PageTimes } from "./signedPage.ts";

const calls = 300;
const targetMs = 3;

export async function measureSigning(home: BenchHome, browser: Browser): Promise<void> {
  const { outputs } = await Bun.build({
    entrypoints: [new URL("signedPage.ts", import.meta.url).pathname],
    target: "browser",
    format: "iife",
    minify: true,
  });
  const script = await outputs[0]!.text();
  for (const atOnce of [1, 12]) {
    const { url } = await home.user.call("dash", {});
    const page = await (await browser.newContext({ bypassCSP: true })).newPage();
    await page.goto(new URL(url).origin);
    await page.addScriptTag({ content: script });
    const run = (parameters: [string, string, number, number]): Promise<PageTimes> =>
      (window as unknown as { measure: (...given: [string, string, number, number]) => Promise<PageTimes> }).measure(
        ...parameters,
      );
    const { token, signed } = await page.evaluate(run, [new URL(url).hash, home.userToken, calls, atOnce] as [
      string,
      string,
      number,
      number,
    ]);
    const added = median(signed) - median(token);
    const verdict = atOnce > 1 || added <= targetMs ? "" : ` OVER ${targetMs} ms`;
    console.log(
      `${atOnce} at once: token median ${ms(median(token))}, p95 ${ms(quantile(token, 0.95))} · signed median ` +
        `${ms(median(signed))}, p95 ${ms(quantile(signed, 0.95))} · ratio ` +
        `${(median(signed) / median(token)).toFixed(2)}, ${ms(added)} more a request${verdict}`,
    );
  }
}
