/** A page of another site, in a real browser, that calls the loopback port. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { homeOf } from "../../src/client/home.ts";
import { describeUnless } from "../../src/testing/needing.ts";
import { startWorld } from "../../src/testing/world.ts";
import { lackOfChromium, launchBrowser } from "../dashboard/stage.ts";
import { residentMb } from "./portWorld.ts";

describeUnless(lackOfChromium)("a page of another site", () => {
  test("cannot fill the daemon's memory, and its requests are refused before their bodies are read", async () => {
    await using world = await startWorld();
    await world.json(["daemon", "start"]);
    const pid = await world.daemonPid();
    const home = homeOf(world.env);
    const port = readFileSync(home.portFile, "utf8").trim();
    const token = readFileSync(home.userToken, "utf8").trim();
    const site = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch: () => new Response("<!doctype html><title>evil</title>", { headers: { "content-type": "text/html" } }),
    });
    const browser = await launchBrowser(["--host-resolver-rules=MAP evil.example 127.0.0.1"]);
    try {
      const page = await browser.newPage();
      await page.goto(`http://evil.example:${site.port}/`);
      const before = residentMb(pid);
      for (const path of ["/hooks/claude-code", "/v1/send", "/mcp", "/page/signIn"]) {
        const outcome = await page.evaluate(async (url) => {
          const body = new Blob(Array.from({ length: 400 }, () => new Uint8Array(1_000_000)));
          return fetch(url, { method: "POST", mode: "no-cors", body }).then(
            (response) => response.type,
            () => "failed",
          );
        }, `http://127.0.0.1:${port}${path}`);
        expect(["opaque", "failed"]).toContain(outcome);
        expect(residentMb(pid) - before).toBeLessThan(80);
      }
      // With a token it is the Origin that is refused; a page of the user's own could otherwise be made to send one.
      const answer = await fetch(`http://127.0.0.1:${port}/v1/whoami`, {
        headers: { authorization: `Bearer ${token}`, origin: "http://evil.example" },
      });
      expect([answer.status, await answer.json()]).toMatchObject([403, { code: "NOT_PERMITTED" }]);
    } finally {
      await browser.close();
      await site.stop(true);
    }
  });
});
