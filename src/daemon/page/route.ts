/** The dashboard: one page, its files, and the link that lets a browser in. */
import { TielineError } from "../../model/errors.ts";
import { problem } from "../http.ts";
import type { LoopbackRoute } from "../loopback.ts";
import { bundlePage, type PageBundle } from "./bundle.ts";
import { portOf, type PageSessions } from "./sessions.ts";

export function pageRoute(sessions: PageSessions, bundle: () => Promise<PageBundle> = bundlePage): LoopbackRoute {
  let bundling: Promise<PageBundle> | null = null;

  return (request, { pathname, searchParams }) => {
    if (request.method !== "GET") return null;
    if (pathname === "/open") return Promise.resolve(letIn(request, searchParams.get("code") ?? ""));
    if (pathname === "/") return sessions.admits(request) ? page() : Promise.resolve(closedDoor());
    if (pathname.startsWith("/assets/")) return sessions.admits(request) ? asset(pathname.slice("/assets/".length)) : Promise.resolve(closedDoor());
    return null;
  };

  function letIn(request: Request, code: string): Response {
    const cookie = sessions.redeem(code, portOf(request));
    if (cookie === null) return closedDoor("This link was used already, or is older than a minute.");
    // A page, not a redirect: a cookie that is strict about its site does not follow a redirect that began elsewhere.
    const body = html({ title: "Tieline", head: `<meta http-equiv="refresh" content="0;url=/">`, body: `<p><a href="/">Open the dashboard</a></p>` });
    return answer(body, { "set-cookie": cookie });
  }

  async function page(): Promise<Response> {
    const { scripts, styles } = await bundled();
    const nonce = crypto.randomUUID();
    const head = [
      `<meta name="style-nonce" content="${nonce}">`,
      `<meta name="color-scheme" content="light dark">`,
      ...styles.map((name) => `<link rel="stylesheet" href="/assets/${name}">`),
      ...scripts.map((name) => `<script type="module" src="/assets/${name}"></script>`),
    ];
    return answer(html({ title: "Tieline", head: head.join(""), body: `<div id="page"></div><noscript>The dashboard needs JavaScript.</noscript>` }), {}, nonce);
  }

  async function asset(name: string): Promise<Response> {
    const found = (await bundled()).assets.get(name);
    if (found === undefined) return problem(new TielineError("USAGE", `there is no file ${name}`, { remedy: "load the page again" }));
    return new Response(found.body, { headers: { ...guards(), "content-type": found.type, "cache-control": "private, max-age=31536000, immutable" } });
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

const closedDoor = (why = "This browser has not been let in."): Response =>
  answer(html({ title: "Tieline", head: "", body: `<h1>Tieline</h1><p>${why}</p><p>Run <code>tieline dash</code> in a terminal: it opens the dashboard with a fresh link.</p>` }), {}, null, 401);

function answer(body: string, headers: Record<string, string>, nonce: string | null = null, status = 200): Response {
  return new Response(body, { status, headers: { ...guards(nonce), "content-type": "text/html; charset=utf-8", "cache-control": "no-store", ...headers } });
}

/** Nothing inline runs or styles; the nonce is for the terminal, which makes its style sheet from the theme. */
function guards(nonce: string | null = null): Record<string, string> {
  const styles = nonce === null ? "'self'" : `'self' 'nonce-${nonce}'`;
  return {
    "content-security-policy": `default-src 'none'; script-src 'self'; style-src ${styles}; connect-src 'self'; img-src 'self' data:; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
  };
}

const html = ({ title, head, body }: { title: string; head: string; body: string }): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>${title}</title><link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Ccircle cx='4' cy='8' r='3' fill='%232f9e6e'/%3E%3Ccircle cx='12' cy='8' r='3' fill='%234c6ef5'/%3E%3Cpath d='M4 8h8' stroke='%23888' stroke-width='1.5'/%3E%3C/svg%3E">${head}</head><body>${body}</body></html>`;
