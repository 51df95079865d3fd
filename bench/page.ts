/**
 * What signing costs a request of the dashboard, in Chromium: a POST with a body of 1 kB, signed after the daemon has
 * proved itself, against the same with a token. One after the other, and twelve at once. The target is 3 ms more for
 * one.
 */
import { startBenchHome } from "../src/testing/benchHome.ts";
import { launchBrowser } from "../test/dashboard/stage.ts";
import { median, ms, quantile } from "./support/measure.ts";
import type { PageTimes } from "./support/signedPage.ts";

const calls = 300;
const targetMs = 3;

await using home = await startBenchHome();
const { outputs } = await Bun.build({
  entrypoints: [new URL("support/signedPage.ts", import.meta.url).pathname],
  target: "browser",
  format: "iife",
  minify: true,
});
const script = await outputs[0]!.text();
const browser = await launchBrowser();
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
await browser.close();
