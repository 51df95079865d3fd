/**
 * Makes the pictures in docs/images of a team that has been at work for so many minutes, five for those in the
 * repository. node_modules/.bin/bun test/dashboard/images.ts [MINUTES [DIRECTORY [all]]]
 * `all`: every view and panel, signing in, a daemon that is away, and 500 agents, at three sizes.
 */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { createClient, type Client } from "../../src/client/client.ts";
import { until } from "../../src/testing/until.ts";
import { says, startStage, type Stage } from "./stage.ts";
import { workFor } from "./work.ts";

const [minutes = "0", directory = new URL("../../docs/images", import.meta.url).pathname, which = "main"] =
  process.argv.slice(2);
mkdirSync(directory, { recursive: true });

const sizes = {
  "": { width: 1440, height: 900 },
  ...(which === "all" && { "-middle": { width: 1024, height: 768 } }),
  "-narrow": { width: 390, height: 844 },
};
const looks = Object.entries(sizes).flatMap(([size, viewport]) =>
  (["light", "dark"] as const).map((colorScheme) => ({ name: `${colorScheme}${size}`, viewport, colorScheme })),
);
/** The rest of the page, for work on its looks. */
const panels = { compose: "c", spawn: "s", teams: "t", help: "?" };

const atLength = [
  "# What is left for the login fix",
  "| File | State | Lines |\n|:-----|:-----:|------:|\n| `session.ts` | **done** | 12 |\n| `a.ts` | in review | 7 |",
  "- [x] find the cause\n- [x] write a test\n- [ ] deploy\n- ~~ask WebKit~~",
  '```ts\n// Lax works everywhere we ship.\nsetCookie(name, value, { sameSite: "lax", secure: true });\n```',
  "```diff\n--- a/a.ts\n+++ b/a.ts\n@@ -12,2 +12,2 @@\n-  sameSite: 'none',\n+  sameSite: 'lax',\n   secure,\n```",
  "> שלום, this line is written from both sides.",
].join("\n\n");

// These agents stop answering, but they talk for long without a user.
await using stage = await startStage({ config: { guards: { maxHops: 1_000 } } });
await workFor(Number(minutes), stage, { scout: stage.scout, ...(await newcomers(stage)) });
const tag = await play(stage);
const reading = which === "all" ? await writeAtLength(stage) : tag;
for (const { name, viewport, colorScheme } of looks) {
  const { page, context } = await stage.visit({ viewport, colorScheme });
  const isWide = viewport.width > 1_000;
  const views = {
    team: "#/team",
    messages: isWide ? `#/messages/${tag}` : "#/messages",
    waiting: "#/waiting",
    graph: "#/graph",
    numbers: "#/numbers",
    ...(which === "all" && {
      ...{ queue: "#/queue", terminal: "#/terminal/web:reviewer", thread: `#/messages/${tag}` },
      ...{ reading: `#/messages/${reading}`, agent: "#/agents/web:reviewer", events: "#/events" },
    }),
  };
  for (const [view, hash] of Object.entries(views)) {
    await open(page, hash);
    await page.screenshot({ path: join(directory, `${view}-${name}.png`) });
  }
  if (which === "all") {
    await open(page, "#/team");
    for (const [panel, key] of Object.entries(panels)) {
      await page.keyboard.press(key);
      await page.waitForTimeout(600);
      await page.screenshot({ path: join(directory, `${panel}-${name}.png`) });
      await page.keyboard.press("Escape");
    }
  }
  await context.close();
}
if (which === "all") {
  await pictures("signIn", async (page) => void (await page.goto(stage.origin)), false);
  for (let at = 0; at < 500; at++) await stage.user.call("register", { name: `worker-${at}`, role: "work" });
  for (const hash of ["#/team", "#/graph", "#/messages"])
    await pictures(`500-${hash.slice(2)}`, (page) => open(page, hash));
  const pid = await stage.world.daemonPid();
  await pictures("away", async (page) => {
    await open(page, "#/team");
    await page.route("**/*", (route) => route.abort());
    process.kill(pid, "SIGKILL");
    await page.locator(".away-banner p").waitFor();
    await stage.world.json(["daemon", "start"]);
  });
}

/** One thing in light and dark, wide and narrow. */
async function pictures(name: string, show: (page: Page) => Promise<void>, signedIn = true): Promise<void> {
  for (const { name: look, viewport, colorScheme } of looks) {
    // The page has another address after the daemon was killed.
    if (name === "away" && look !== "light") continue;
    const context = signedIn ? null : await stage.browser.newContext({ viewport, colorScheme });
    const visit = context === null ? await stage.visit({ viewport, colorScheme }) : null;
    const page = visit?.page ?? (await context!.newPage());
    await show(page);
    await page.waitForTimeout(600);
    await page.screenshot({ path: join(directory, `${name}-${look}.png`) });
    await page.context().close();
  }
}

/** A message with everything that a message can have; its tag. */
async function writeAtLength({ user }: Stage): Promise<string> {
  const { tag: written } = await user.call("send", { to: "scout", body: atLength });
  return written;
}

/**
 * A freshly loaded page, at rest: the graph lays itself out, and pictures are made by hand, so a wait is fine
 * here.
 */
async function open(page: Page, hash: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${stage.origin}/${hash}`);
  await page.locator(".connection.live").waitFor();
  await page.waitForTimeout(hash === "#/graph" ? 2_500 : 900);
}

/** Agents that join the team, by name. */
async function newcomers({ user, url }: Stage): Promise<Record<string, Client>> {
  const clients: Record<string, Client> = {};
  for (const [name, role] of Object.entries({ security: "audit", docs: "writing", release: "deploys" })) {
    const { token } = await user.call("register", { name, role });
    clients[name] = createClient({ url, token }, {});
  }
  for (const edge of ["reviewer -> security", "security -> lead", "lead -> docs", "lead -> release"])
    await user.call("topologyAdd", { edge });
  return clients;
}

/** How a day of the team ends; the tag of the message that is shown in full. */
async function play({ world, user, scout, direct }: Stage): Promise<string> {
  await user.call("send", {
    to: "lead",
    body: "Login fails on Safari 19. Please find out why, and have it fixed today.",
  });
  await says(
    world,
    "lead",
    "engineer",
    "The login test fails on Safari. Look at `session.ts` first; @reviewer will check your change.",
  );
  await says(world, "lead", "reviewer", "Please be ready to review the login fix.");
  await scout.call("send", {
    to: "lead",
    body: "WebKit 619 drops cookies with `SameSite=None` unless they are *Secure*.",
  });
  const question = await says(world, "engineer", "scout", "Does this also affect embedded views?");
  const [mail] = await scout.call("inbox", {});
  await scout.call("collected", { deliveries: mail?.delivery === undefined ? [] : [mail.delivery] });
  await scout.call("reply", {
    tag: question.tag,
    body:
      "Yes, **WKWebView** too, since 18.4:\n\n- with `SameSite=None` and no `Secure`, the cookie is dropped\n" +
      '- `lax` works everywhere we ship\n\n```ts\nsetCookie(name, value, { sameSite: "lax", secure: true });\n```',
  });
  await says(world, "engineer", "reviewer", "Pushed the fix to `fix/login-safari`; 3 files, all tests green here.");
  await says(world, "engineer", "lead", "Shall I merge it myself?").catch(() => undefined);
  await says(world, "lead", "user", "Found it: the cookie was dropped. The fix is in review; shall we deploy today?");
  await user.call("send", { to: "tester", body: "Please run the Safari suite again." });
  await direct("reviewer", { state: "permission" });
  await direct("engineer", { state: "working" });
  const stateOf = async (agent: string): Promise<string> =>
    (await world.ls()).find(({ name }) => name === agent)!.state;
  await until(
    async () => (await stateOf("reviewer")) === "permission" && (await stateOf("engineer")) === "working",
    "the states",
  );
  await user.call("send", { to: "reviewer", body: "And look at the logout, please." });
  return question.tag;
}
