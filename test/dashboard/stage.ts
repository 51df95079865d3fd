/** A small team at work, and a browser that looks at it. */
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { createClient, type Client } from "../../src/client/client.ts";
import type { ReceiptView } from "../../src/api/schema.ts";
import { lackUnless } from "../../src/testing/needing.ts";
import { direct, isListening, scriptedAgentCommand, type Script } from "../../src/testing/scriptedAgent.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

export interface Stage extends AsyncDisposable {
  readonly world: World;
  readonly browser: Browser;
  /** Where the API is. */
  readonly url: string;
  /** Where the page is, until the daemon is restarted. */
  readonly origin: string;
  /** A browser of its own that came in by a link. It closes with the stage. */
  visit(options?: Parameters<Browser["newContext"]>[0]): Promise<Visit>;
  direct(agent: string, script: Script): Promise<void>;
  readonly user: Client;
  /** An agent that fetches its mail, and so proves that it has seen it. */
  readonly scout: Client;
  logDirectory(agent: string): string;
}

export interface Visit {
  readonly context: BrowserContext;
  readonly page: Page;
  /** What went wrong in the page until now. */
  readonly faults: readonly string[];
}

const deadlineMs = 20_000;
const edges = [
  "user -> *",
  "lead -> engineer",
  "lead -> reviewer",
  "lead -> tester",
  "engineer -> reviewer",
  "reviewer -> lead",
  "tester -> engineer",
];
const scripted = { lead: "planning", engineer: "frontend", reviewer: "review" };

export const chromiumPath =
  ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find((path) => existsSync(path)) ?? null;
export const lackOfChromium = lackUnless(chromiumPath !== null, "there is no Chromium here");

export const launchBrowser = (more: readonly string[] = []): Promise<Browser> =>
  chromium.launch({
    executablePath: chromiumPath!,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
      ...more,
    ],
  });

export async function startStage({ config = {} }: { config?: object } = {}): Promise<Stage> {
  const world = await startWorld({ config });
  const agents: Record<string, object> = { tester: { command: ["cat"], role: "tests" } };
  for (const [name, role] of Object.entries(scripted)) {
    mkdirSync(join(world.dir, name));
    agents[name] = { provider: "claude-code", command: scriptedAgentCommand(join(world.dir, name)), role };
  }
  world.file("tieline.yaml", JSON.stringify({ team: "web", agents, topology: edges }));
  await world.trust();
  for (const name of Object.keys(agents)) await world.json(["spawn", name]);
  for (const name of Object.keys(scripted)) await until(() => isListening(join(world.dir, name)), `${name} to come up`);
  const { url: link, port } = await world.json<{ url: string; port: number }>(["dash"]);
  const { origin } = new URL(link);
  const url = `http://127.0.0.1:${port}`;
  const userToken = (await Bun.file(join(world.env["TIELINE_HOME"]!, "user.token")).text()).trim();
  const user = createClient({ url, token: userToken }, { team: "web" });
  const { token: scout } = await user.call("register", { name: "scout", role: "research" });
  for (const edge of ["engineer -> scout", "scout -> lead"]) await user.call("topologyAdd", { edge });
  const browser = await launchBrowser();

  return {
    world,
    browser,
    url,
    origin,
    async visit(options = {}) {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
      const page = await context.newPage();
      page.setDefaultTimeout(deadlineMs);
      const faults = faultsOf(page);
      const { url: fresh } = await world.json<{ url: string }>(["dash"]);
      await page.goto(fresh);
      await page.locator(".connection.live").waitFor();
      return { context, page, faults };
    },
    direct: (agent, script) => direct(join(world.dir, agent), script),
    user,
    scout: createClient({ url, token: scout }, {}),
    logDirectory: (agent) => join(world.dir, agent),
    async [Symbol.asyncDispose]() {
      await browser.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

/** What went wrong in the page, apart from what happens while its daemon is away. */
function faultsOf(page: Page): readonly string[] {
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    if (message.type() === "error" && !/ERR_CONNECTION_REFUSED|Failed to load resource/.test(message.text()))
      faults.push(message.text());
  });
  return faults;
}

/** What an agent in a pane says, by the command, as it would. */
export async function says(world: World, agent: string, to: string, body: string): Promise<ReceiptView> {
  const { pane } = (await world.ls()).find(({ name }) => name === agent)!;
  const socket = await world.tmux("display-message", "-p", "#{socket_path}");
  return world.json<ReceiptView>(["send", to, body], { env: { TMUX: `${socket},1,0`, TMUX_PANE: pane! } });
}
