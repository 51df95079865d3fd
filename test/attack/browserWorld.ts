/**
 * Tieline as a user has it, with a browser that is signed in to its dashboard, and what an attacker on the machine can
 * run.
 */
import { join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { createClient, type Client } from "../../src/client/client.ts";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";
import { launchBrowser } from "../dashboard/stage.ts";

export interface BrowserWorld extends AsyncDisposable {
  readonly world: World;
  readonly browser: Browser;
  /** The browser of the user: every page that is opened in it shares its storage. */
  readonly context: BrowserContext;
  readonly port: number;
  readonly user: Client;
  /** The texts of an agent's mail, without taking it. */
  mailOf(agent: string): Promise<string[]>;
  /** A fresh link of `tieline dash`. */
  link(): Promise<string>;
  /** A tab that came in by a fresh link. */
  signIn(): Promise<Page>;
  tab(url: string): Promise<Page>;
}

/** Foreign sites are on this machine as well: their names lead here. */
const foreignHosts = ["evil.example", "rebound.example"];

export async function startBrowserWorld(): Promise<BrowserWorld> {
  const world = await startWorld();
  const { port } = await world.json<{ port: number }>(["dash"]);
  const token = (await Bun.file(join(world.env["TIELINE_HOME"]!, "user.token")).text()).trim();
  const user = createClient({ url: `http://127.0.0.1:${port}`, token }, {});
  await user.call("register", { name: "ana" });
  const browser = await launchBrowser([
    `--host-resolver-rules=${foreignHosts.map((host) => `MAP ${host} 127.0.0.1`).join(",")}`,
  ]);
  const context = await browser.newContext();
  const tab = async (url: string): Promise<Page> => {
    const page = await context.newPage();
    page.setDefaultTimeout(20_000);
    await page.goto(url);
    return page;
  };
  const link = async (): Promise<string> => (await world.json<{ url: string }>(["dash"])).url;
  return {
    world,
    browser,
    context,
    port,
    user,
    mailOf: async (agent) => (await user.call("inbox", { agent, peek: true })).map(({ body }) => body),
    link,
    tab,
    async signIn() {
      const page = await tab(await link());
      await page.locator(".connection.live").waitFor();
      return page;
    },
    async [Symbol.asyncDispose]() {
      await browser.close();
      await world[Symbol.asyncDispose]();
    },
  };
}

export interface Caught {
  readonly method: string;
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}

/** A server of an attacker, which keeps all that it gets. */
export interface AttackServer extends AsyncDisposable {
  readonly port: number;
  readonly caught: readonly Caught[];
  /** All that it got, in one text. */
  said(): string;
}

export type Answer = (request: Request, caught: Caught) => Response | Promise<Response>;

/** At 127.0.0.1 and ::1, as soon as the port is free. */
export async function startAttackServer(port: number, answer: Answer): Promise<AttackServer> {
  const caught: Caught[] = [];
  const fetch = async (request: Request): Promise<Response> => {
    const one = {
      method: request.method,
      url: request.url,
      headers: Object.fromEntries(request.headers),
      body: await request.clone().text(),
    };
    caught.push(one);
    return answer(request, one);
  };
  const open = (hostname: string, at: number): Bun.Server<undefined> | null => {
    try {
      return Bun.serve({ hostname, port: at, idleTimeout: 0, fetch });
    } catch (thrown) {
      if ((thrown as { code?: string }).code !== "EADDRINUSE") throw thrown;
      return null;
    }
  };
  let first: Bun.Server<undefined> | null = null;
  await until(() => (first = open("127.0.0.1", port)) !== null, `port ${port} to be free`);
  const servers = [first!, open("::1", (first! as Bun.Server<undefined>).port!)!];
  return {
    port: servers[0]!.port!,
    caught,
    said: () => JSON.stringify(caught),
    async [Symbol.asyncDispose]() {
      await Promise.all(servers.map((server) => server.stop(true)));
    },
  };
}

export const html = (body: string): Response =>
  new Response(`<!doctype html><title>attacker</title>${body}`, { headers: { "content-type": "text/html" } });

/** Writes a message in the dashboard and presses send. */
export async function compose(page: Page, to: string, body: string): Promise<void> {
  if ((await page.locator(".compose").count()) === 0) await page.keyboard.press("c");
  await page.locator("#compose-to").fill(to);
  await page.getByLabel("Message", { exact: true }).fill(body);
  await page.keyboard.press("Control+Enter");
}
