/** Runs in the page of bench/page.ts: the same calls signed and with a token, in turn. */
import { linkIn } from "../../src/client/pageProtocol.ts";
import { createSession } from "../../dashboard/session/session.ts";

export interface PageTimes {
  readonly token: number[];
  readonly signed: number[];
}

async function measure(hash: string, token: string, calls: number, atOnce: number): Promise<PageTimes> {
  const { origin } = location;
  const send = (url: string, request: RequestInit): Promise<Response> => fetch(url, request);
  const session = createSession({
    origin,
    fetch: send,
    store: { load: async () => null, save: async () => undefined },
    now: () => performance.now(),
    isIntercepted: () => false,
  });
  await session.signIn(linkIn(hash)!);
  const body = JSON.stringify({ deliveries: [] }) + " ".repeat(1_000);
  const request = { method: "POST", headers: { "content-type": "application/json" }, body };
  const ways = {
    token: () =>
      send("/v1/collected", {
        ...request,
        cache: "no-store",
        headers: { ...request.headers, authorization: `Bearer ${token}` },
      }),
    signed: () => session.fetch("/v1/collected", request),
  };
  const times: PageTimes = { token: [], signed: [] };
  for (let call = -20; call < calls; call++) {
    for (const way of ["token", "signed"] as const) {
      const from = performance.now();
      await Promise.all(
        Array.from({ length: atOnce }, async () => {
          const response = await ways[way]();
          if (!response.ok) throw new Error(await response.text());
          await response.text();
        }),
      );
      if (call >= 0) times[way].push((performance.now() - from) / atOnce);
    }
  }
  return times;
}

Object.assign(window, { measure });
