/** Makes the pictures in docs/images from a team at work: node_modules/.bin/bun test/dashboard/images.ts [DIRECTORY [all]] */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { until } from "../../src/testing/world.ts";
import { says, startStage, type Stage } from "./stage.ts";

const [directory = new URL("../../docs/images", import.meta.url).pathname, which = "main"] = process.argv.slice(2);
mkdirSync(directory, { recursive: true });

const looks = [
  { name: "light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { name: "light-narrow", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "dark-narrow", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

await using stage = await startStage();
const tag = await play(stage);
for (const { name, viewport, colorScheme } of looks) {
  const { page, context } = await stage.visit({ viewport, colorScheme });
  const wide = viewport.width > 1_000;
  await shoot(page, "team", "#/team");
  await shoot(page, "messages", wide ? `#/messages/${tag}` : "#/messages");
  await shoot(page, "graph", "#/graph");
  if (which === "all") for (const view of ["waiting", "queue", "numbers", "terminal/web:reviewer"]) await shoot(page, view.split("/")[0]!, `#/${view}`);
  await context.close();

  async function shoot(shown: Page, view: string, hash: string): Promise<void> {
    await shown.goto(`${stage.url}/${hash}`);
    await shown.locator(".view").waitFor();
    // The graph comes to rest by itself; pictures are made by hand, so a wait is fine here.
    await shown.waitForTimeout(view === "graph" ? 2_500 : 900);
    await shown.screenshot({ path: join(directory, `${view}-${name}.png`) });
  }
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
