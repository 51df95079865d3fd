/** The dashboard: its shell, which is the same for all and holds no data, and how a page signs in. */
import { z } from "zod";
import { pagePaths } from "../../client/pageProtocol.ts";
import { asTielineError, TielineError } from "../../model/errors.ts";
import { parse } from "../../api/parse.ts";
import { parseJson, problem, textOf } from "../http.ts";
import type { LoopbackRoute } from "../loopback.ts";
import { bundlePage, type PageBundle } from "./bundle.ts";
import type { PageSessions } from "./sessions.ts";
import { uuidv4, type RandomBytes } from "../../model/ids.ts";

const maxBodyBytes = 4096;
const word = z.string().max(1024);
const bodies = {
  [pagePaths.hello]: z.object({ nonce: z.string().min(16).max(64) }),
  [pagePaths.signIn]: z.object({ code: word, deviceKey: word, tabKey: word, proof: word }),
  [pagePaths.openTab]: z.object({ device: word, tabKey: word, signature: word }),
};

export interface PageRouteOptions {
  readonly report: (context: string, fault: unknown) => void;
  readonly bundle?: () => Promise<PageBundle>;
  readonly random?: RandomBytes;
}

export function pageRoute(
  sessions: PageSessions,
  { report, bundle = bundlePage, random }: PageRouteOptions,
): LoopbackRoute {
  let bundling: Promise<PageBundle> | null = null;

  return (request, { pathname }) => {
    if (request.method === "POST" && Object.hasOwn(bodies, pathname))
      return enter(request, pathname as keyof typeof bodies);
    if (request.method !== "GET") return null;
    if (pathname === "/") return shell();
    if (pathname.startsWith("/assets/")) return asset(pathname.slice("/assets/".length));
    return null;
  };

  async function enter(request: Request, path: keyof typeof bodies): Promise<Response> {
    try {
      const body = parseJson(await textOf(request, maxBodyBytes), "the request body");
      return Response.json(answerTo(request, path, body), { headers: { "cache-control": "no-store" } });
    } catch (thrown) {
      const error = asTielineError(thrown);
      if (error.code === "INTERNAL") report(`POST ${path}`, thrown);
      return problem(error);
    }
  }

  function answerTo(request: Request, path: keyof typeof bodies, body: unknown): object {
    switch (path) {
      case pagePaths.hello:
        return sessions.hello(request, parse(bodies[path], body, path).nonce);
      case pagePaths.signIn:
        return sessions.signIn(request, parse(bodies[path], body, path));
      case pagePaths.openTab:
        return sessions.openTab(request, parse(bodies[path], body, path));
    }
  }

  /**
   * Every script is loaded with the page, also those that only some views need: a page that is open while the daemon is
   * down must not take code from another program on the port.
   */
  async function shell(): Promise<Response> {
    const { assets, scripts, styles, later } = await bundled();
    const nonce = uuidv4(random);
    const linked = (name: string): string => `"/assets/${name}" integrity="${assets.get(name)!.integrity}"`;
    const head = [
      `<meta charset="utf-8">`,
      `<meta name="viewport" content="width=device-width, initial-scale=1">`,
      `<title>Tieline</title>`,
      `<link rel="icon" href="${icon}">`,
      `<meta name="style-nonce" content="${nonce}">`,
      `<meta name="color-scheme" content="light dark">`,
      ...styles.map((name) => `<link rel="stylesheet" href=${linked(name)}>`),
      ...scripts.map((name) => `<script type="module" src=${linked(name)}></script>`),
      ...later.map((name) => `<link rel="modulepreload" href=${linked(name)}>`),
    ];
    const body = `<div id="page"></div><noscript>The dashboard needs JavaScript.</noscript>`;
    const html = `<!doctype html><html lang="en"><head>${head.join("")}</head><body>${body}</body></html>`;
    return new Response(html, {
      headers: { ...guards(nonce), "content-type": "text/html; charset=utf-8", "cache-control": "no-store" },
    });
  }

  async function asset(name: string): Promise<Response> {
    const found = (await bundled()).assets.get(name);
    if (found === undefined)
      return problem(new TielineError("USAGE", `there is no file ${name}`, { remedy: "load the page again" }));
    return new Response(found.body, {
      headers: { ...guards(), "content-type": found.type, "cache-control": "private, max-age=31536000, immutable" },
    });
  }

  /** A bundle that failed is tried again at the next request. */
  function bundled(): Promise<PageBundle> {
    bundling ??= bundle().catch((thrown: unknown) => {
      bundling = null;
      throw thrown;
    });
    return bundling;
  }
}

const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='4' " +
  "cy='8' r='3' fill='%232f9e6e'/%3E%3Ccircle cx='12' cy='8' r='3' fill='%234c6ef5'/%3E%3Cpath d='M4 8h8' " +
  "stroke='%23888' stroke-width='1.5'/%3E%3C/svg%3E";

const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "connect-src": "'self'",
  "img-src": "'self' data:",
  "font-src": "'self'",
  "worker-src": "'none'",
  "base-uri": "'none'",
  "form-action": "'none'",
  "frame-ancestors": "'none'",
};

/** Nothing inline runs or styles; the nonce is for the terminal, which makes its style sheet from the theme. */
function guards(nonce: string | null = null): Record<string, string> {
  const directives = { ...policy, "style-src": nonce === null ? "'self'" : `'self' 'nonce-${nonce}'` };
  return {
    "content-security-policy": Object.entries(directives)
      .map((directive) => directive.join(" "))
      .join("; "),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}
