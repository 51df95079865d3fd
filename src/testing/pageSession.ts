/** The dashboard's session without a browser: the page's own code, with the headers that a browser would send. */
import { linkIn } from "../client/pageProtocol.ts";
import type { Client, Fetch } from "../client/client.ts";
import type { DeviceStore, StoredDevice } from "../../dashboard/session/deviceStore.ts";
import { createSession, type PageSession } from "../../dashboard/session/session.ts";

export interface TestPage {
  readonly origin: string;
  readonly session: PageSession;
  /** What the browser stores for the origin. */
  readonly store: DeviceStore;
  /** Every request that was sent, as it was sent. */
  readonly sent: { readonly url: string; readonly request: RequestInit }[];
}

export interface TestPageOptions {
  readonly store?: DeviceStore;
  readonly send?: Fetch;
  readonly isIntercepted?: () => boolean;
}

/** A page at that origin, not signed in. */
export function pageAt(
  origin: string,
  { store = memoryStore(), send = fetch, isIntercepted = () => false }: TestPageOptions = {},
): TestPage {
  const sent: TestPage["sent"][number][] = [];
  const asBrowser: Fetch = (path, request) => {
    const headers = new Headers(request.headers);
    headers.set("sec-fetch-site", "same-origin");
    headers.set(
      "user-agent",
      "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36",
    );
    if (request.method === "POST") headers.set("origin", origin);
    const url = new URL(path, origin).href;
    // What only browsers know means nothing here.
    const { cache: _cache, credentials: _credentials, referrerPolicy: _referrerPolicy, ...rest } = request;
    sent.push({ url, request: { ...rest, headers } });
    return send(url, { ...rest, headers });
  };
  return {
    origin,
    store,
    sent,
    session: createSession({ origin, fetch: asBrowser, store, now: () => performance.now(), isIntercepted }),
  };
}

/** Opens a link of `tieline dash` in a page of its own. */
export async function openLink(user: Client, options: TestPageOptions = {}): Promise<TestPage> {
  const { url } = await user.call("dash", {});
  const page = pageAt(new URL(url).origin, options);
  await page.session.signIn(linkIn(new URL(url).hash)!);
  return page;
}

function memoryStore(): DeviceStore {
  let stored: StoredDevice | null = null;
  return {
    load: async () => stored,
    async save(device) {
      stored = device;
    },
  };
}
