import { expect, test } from "bun:test";
import type { Input, OperationName } from "../../src/api/schema.ts";
import { onStage } from "./onStage.ts";

/** Who gets in, what they may do there, and what agents can do to a viewer. */
await onStage("the safety of the dashboard", ({ stage, page, faults, show }) => {
  test("there is no cookie, and the link is not in the address", async () => {
    expect(await page.context().cookies()).toEqual([]);
    expect(page.url()).toStartWith(`${stage.origin}/`);
    expect(page.url()).not.toContain("sign-in");
  });

  test("without a signature the API answers no page, whatever it says about itself", async () => {
    const statusOf = (path: string, headers: Record<string, string>) =>
      fetch(`${stage.url}${path}`, {
        method: path === "/v1/send" ? "POST" : "GET",
        headers,
        ...(path === "/v1/send" && { body: JSON.stringify({ to: "unknown", body: "x" }) }),
      }).then(({ status }) => status);
    for (const path of ["/v1/send", "/v1/ls", "/v1/events", "/v1/pane?agent=lead", "/metrics"]) {
      expect(await statusOf(path, { origin: stage.url })).toBe(401);
      expect(await statusOf(path, { "sec-fetch-site": "same-origin", accept: "text/event-stream" })).toBe(401);
      expect(await statusOf(path, { origin: "http://evil.example" })).toBe(403);
      expect(await statusOf(path, { "sec-fetch-site": "cross-site" })).toBe(403);
      expect(await statusOf(path, { authorization: "Tieline-Tab a b 1 1 c d" })).toBe(401);
    }
  });

  test("the key of the browser cannot be read", async () => {
    const read = await page.evaluate(async () => {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const opening = indexedDB.open("tieline");
        opening.addEventListener("success", () => resolve(opening.result));
        opening.addEventListener("error", () => reject(opening.error!));
      });
      const device = await new Promise<{ key: CryptoKey }>((resolve) => {
        const getting = database.transaction("devices").objectStore("devices").get("this");
        getting.addEventListener("success", () => resolve(getting.result as { key: CryptoKey }));
      });
      const exported = await crypto.subtle.exportKey("pkcs8", device.key).catch((thrown: Error) => thrown.name);
      return { extractable: device.key.extractable, exported };
    });
    expect(read).toEqual({ extractable: false, exported: "InvalidAccessError" });
  });

  test("an injected script does not run", async () => {
    const blocked = await page.evaluate(
      () =>
        new Promise<string>((resolve) => {
          document.addEventListener(
            "securitypolicyviolation",
            ({ effectiveDirective }) => resolve(effectiveDirective),
            { once: true },
          );
          const script = document.createElement("script");
          script.textContent = "window.hit = 1";
          document.body.append(script);
          script.remove();
        }),
    );
    expect(blocked).toBe("script-src-elem");
    expect(await page.evaluate(() => "hit" in window)).toBeFalse();
  });

  const forTheUser: { readonly [Name in OperationName]?: Input<Name> } = {
    spawn: { profile: "tester", name: "sneaked" },
    stop: { agent: "tester" },
    kill: { agent: "tester" },
    restart: { agent: "tester" },
    resume: {},
    interrupt: { agent: "tester" },
    choose: { agent: "reviewer", choice: "1", mark: "x" },
    answerRequest: { tag: "MSG_LEAD_00000000", approve: true },
    typeKeys: { agent: "tester", keys: "x" },
    topologyAdd: { edge: "scout -> engineer" },
    topologyRemove: { edge: "lead -> engineer" },
    teamCreate: { team: "mine" },
    teamJoin: { team: "web", agent: "tester" },
    teamRename: { team: "web", name: "mine" },
    teamDisband: { team: "web", force: true },
    teamShutdown: { team: "web" },
    register: { name: "another" },
    dash: {},
    devices: {},
    devicesRevoke: { all: true },
    preferences: {},
    preferencesSet: { values: { theme: "dark" } },
  };

  test.each(Object.keys(forTheUser) as OperationName[])("an agent's token is not enough for %s", async (name) => {
    const before = await stage.user.call("ls", { all: true });
    await expect(stage.scout.call(name, forTheUser[name] as never)).rejects.toMatchObject({ code: "NOT_PERMITTED" });
    expect((await stage.user.call("ls", { all: true })).map(({ id, team, pane }) => ({ id, team, pane }))).toEqual(
      before.map(({ id, team, pane }) => ({ id, team, pane })),
    );
  });

  test("an agent sees no pane of another, and writes to the whole machine no more than to one", async () => {
    const { token } = await stage.user.call("register", { name: "peeper" });
    const pane = await fetch(`${stage.url}/v1/pane?agent=web:tester`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect([pane.status, ((await pane.json()) as { code: string }).code]).toEqual([403, "NOT_PERMITTED"]);
    await expect(stage.scout.call("send", { to: "*", body: "all of you" })).rejects.toMatchObject({
      code: "ROUTE_DENIED",
    });
  });

  test("what agents write is text and nothing else, wherever it is shown", async () => {
    const corpus = [
      "<script>window.hit = 1</script>",
      "<img src=x onerror='window.hit = 1'>",
      "<svg onload=window.hit=1>",
      "[click](javascript:window.hit=1)",
      "[data](data:text/html,<script>window.hit=1</script>)",
      "[spaced]( javascript:window.hit=1) [cased](JaVaScRiPt:window.hit=1)",
      "<a href='javascript:window.hit=1'>x</a>",
      "![picture](http://evil.example/pixel.png)",
      "```html\n<iframe srcdoc='<script>parent.hit=1</script>'>\n```",
      "\u202egnp.exe \u2066hidden\u2069 \u200b",
      "\x1b]0;title\x07\x1b[31mred\x1b[0m \x9b2J \r over",
      "{{constructor.constructor('window.hit=1')()}}",
      "<style>*{display:none}</style><meta http-equiv=refresh content='0;url=http://evil.example'>",
      "`unclosed <b> **bold <i>** *x*</p></div></main>",
      "\u{e0041}tagged \ufeffmarked a\u0301\u0301\u0301\u0301",
    ];
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    for (const to of ["lead", "user"]) await stage.scout.call("send", { to, body: corpus.join("\n\n") });
    for (const line of corpus)
      await stage.scout
        .call("send", { to: "lead", body: line })
        .catch((error: { code: string }) => expect(error.code).toBe("RATE_LIMITED"));
    await stage.user.call("note", { agent: "engineer", text: corpus.join(" ").slice(0, 400) });
    const { tag } = (await stage.user.call("log", {})).find(({ from, to }) => from === "scout" && to === "lead")!;
    const letter = page.locator(`.letter[data-tag="${tag}"] .markdown`);
    await show(`#/messages/${tag}`);
    await letter.getByText("window.hit = 1").first().waitFor();
    const shown = await letter.evaluate((element) => ({
      text: element.textContent,
      inside: [...element.querySelectorAll("*")].map(({ tagName }) => tagName),
      links: [...element.querySelectorAll("a")].map(({ href }) => href),
    }));
    expect(shown.text).toContain("<script>window.hit = 1</script>");
    expect(shown.text).toContain("⟨U+202E⟩gnp.exe");
    expect(shown.text).toContain("␛[31mred");
    expect(shown.text).toContain("⟨U+E0041⟩tagged");
    expect(shown.inside.filter((name) => !["P", "PRE", "CODE", "SPAN", "STRONG", "EM", "A"].includes(name))).toEqual(
      [],
    );
    expect(new Set(shown.links)).toEqual(new Set(["http://evil.example/pixel.png", "http://evil.example/"]));
    for (const hash of ["#/team", "#/messages", "#/waiting", "#/queue", "#/graph", "#/numbers"]) {
      await show(hash);
      expect(
        await page.evaluate(
          () =>
            document.querySelectorAll(
              "main :is(img, iframe, script, style, meta, object, embed), main [onload], main [onerror]",
            ).length,
        ),
      ).toBe(0);
      // Whatever reorders or hides is shown by its name, in every line of every view.
      expect(
        await page.evaluate(() => /[\u202a-\u202e\u2066-\u2069\u200b\u001b\u009b]/.test(document.body.innerText)),
      ).toBeFalse();
    }
    await show("#/waiting");
    await page.locator(".need", { hasText: "window.hit = 1" }).waitFor();
    expect(await page.evaluate(() => "hit" in window)).toBeFalse();
    expect(asked.filter((url) => !url.startsWith(stage.origin))).toEqual([]);
    expect(await page.title()).toEndWith("Tieline");
  });

  test("nothing went wrong on the way", () => {
    expect(faults.filter((text) => !text.includes("Content Security Policy"))).toEqual([]);
  });
});
