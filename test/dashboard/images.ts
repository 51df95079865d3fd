/** Makes the pictures in docs/images from a team at work: node_modules/.bin/bun test/dashboard/images.ts [DIRECTORY [all]] */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../../src/testing/world.ts";
import { tellPast } from "./past.ts";
import { says, startStage, type Stage } from "./stage.ts";

const [directory = new URL("../../docs/images", import.meta.url).pathname, which = "main"] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });

const sizes = {
  "": { width: 1440, height: 900 },
  ...(which === "all" && { "-middle": { width: 1024, height: 768 } }),
  "-narrow": { width: 390, height: 844 },
};
const looks = Object.entries(sizes).flatMap(([size, viewport]) => (["light", "dark"] as const).map((colorScheme) => ({ name: `${colorScheme}${size}`, viewport, colorScheme })));
/** The rest of the page, for whoever works on how it looks. */
const panels = { compose: "c", spawn: "s", teams: "t", help: "?" };

await using stage = await startStage();
const tag = await play(stage);
const agents = await stage.world.ls();
for (const { name, viewport, colorScheme } of looks) {
  const { page, context } = await stage.visit({ viewport, colorScheme });
  await tellPast(page, agents);
  const isWide = viewport.width > 1_000;
  const views = { team: "#/team", messages: isWide ? `#/messages/${tag}` : "#/messages", waiting: "#/waiting", graph: "#/graph", numbers: "#/numbers", ...(which === "all" && { queue: "#/queue", terminal: "#/terminal/web:reviewer", thread: `#/messages/${tag}` }) };
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

/** A page that was loaded anew, at rest: the graph lays itself out, and pictures are made by hand, so a wait is fine here. */
async function open(page: Page, hash: string): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`${stage.url}/${hash}`);
  await page.locator(".connection.live").waitFor();
  await page.waitForTimeout(hash === "#/graph" ? 2_500 : 900);
}

/** A morning of the team in a few seconds; the tag of the message that is shown in full. */
async function play({ world, person, scout, direct }: Stage): Promise<string> {
  for (const [name, role] of [["security", "audit"], ["docs", "writing"], ["release", "deploys"]]) await person.call("register", { name: name!, role: role! });
  for (const edge of ["reviewer -> security", "security -> lead", "lead -> docs", "lead -> release"]) await person.call("topologyAdd", { edge });
  await person.call("send", { to: "lead", body: "Login fails on Safari 19. Please find out why, and have it fixed today." });
  await says(world, "lead", "engineer", "The login test fails on Safari. Look at `session.ts` first; @reviewer will check your change.");
  await says(world, "lead", "reviewer", "Please be ready to review the login fix.");
  await scout.call("send", { to: "lead", body: "WebKit 619 drops cookies with `SameSite=None` unless they are *Secure*." });
  const question = await says(world, "engineer", "scout", "Does this also affect embedded views?");
  const [mail] = await scout.call("inbox", {});
  await scout.call("collected", { deliveries: mail?.delivery === undefined ? [] : [mail.delivery] });
  await scout.call("reply", {
    tag: question.tag,
    body: "Yes, **WKWebView** too, since 18.4:\n\n- with `SameSite=None` and no `Secure`, the cookie is dropped\n- `lax` works everywhere we ship\n\n```ts\nsetCookie(name, value, { sameSite: \"lax\", secure: true });\n```",
  });
  await says(world, "engineer", "reviewer", "Pushed the fix to `fix/login-safari`; 3 files, all tests green here.");
  await says(world, "engineer", "lead", "Shall I merge it myself?").catch(() => undefined);
  await says(world, "lead", "user", "Found it: the cookie was dropped. The fix is in review; shall we deploy today?");
  await person.call("send", { to: "tester", body: "Please run the Safari suite again." });
  await direct("reviewer", { state: "permission" });
  await direct("engineer", { state: "working" });
  const stateOf = async (agent: string): Promise<string> => (await world.ls()).find(({ name }) => name === agent)!.state;
  await until(async () => (await stateOf("reviewer")) === "permission" && (await stateOf("engineer")) === "working", "the states");
  await person.call("send", { to: "reviewer", body: "And look at the logout, please." });
  return question.tag;
}
