/**
 * The page's session with its daemon (src/client/pageProtocol.ts has the protocol). Before anything is sent, the daemon
 * proves itself; then each request is signed with a key that exists only in the memory of this tab.
 */
import {
  authorizationOf,
  helloText,
  openTabText,
  pagePaths,
  requestText,
  signedHeaders,
  signInText,
  type HelloAnswer,
  type OpenTabBody,
  type SignInAnswer,
  type SignInBody,
  type SignInLink,
} from "../../src/client/pageProtocol.ts";
import { fromProblem, unavailable, type Fetch } from "../../src/client/client.ts";
import { TielineError } from "../../src/model/errors.ts";
import type { DeviceStore } from "./deviceStore.ts";
import { digestOf, hmacOf, isFromDaemon, newKey, newNonce, signed } from "./keys.ts";

export interface SessionParts {
  readonly origin: string;
  readonly fetch: Fetch;
  readonly store: DeviceStore;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
  /** Whether a service worker intercepts the page's requests. The dashboard has none. */
  readonly isIntercepted: () => boolean;
}

export interface PageSession {
  /**
   * Like `fetch`, for paths of the daemon: signed, after the daemon has proved itself. Fails with SESSION_EXPIRED when
   * signed out.
   */
  readonly fetch: Fetch;
  /** Signs this browser in. */
  signIn(link: SignInLink): Promise<void>;
  /** What was proved holds no longer: a connection broke. */
  distrust(): void;
}

interface Proof {
  readonly boot: string;
  /** What to add to our clock to get the daemon's. */
  readonly offsetMs: number;
  readonly at: number;
}

interface OwnTab {
  readonly id: string;
  readonly key: CryptoKey;
}

/** So long after a proof the daemon has to prove itself again. A connection that breaks ends a proof at once. */
const proofLifeMs = 1_000;

export function createSession({ origin, fetch: send, store, now, isIntercepted }: SessionParts): PageSession {
  let fingerprint: string | null = null;
  let tab: OwnTab | null = null;
  let proof: Proof | null = null;
  let proving: Promise<Proof> | null = null;
  let opening: Promise<OwnTab> | null = null;
  let lastNumber = 0;

  return {
    async fetch(url, request) {
      const response = await attempt(url, request);
      if (response.status !== 401) return response;
      // Refused before it did anything: the daemon was restarted, or has forgotten this tab. Once more with what it
      // knows now.
      proof = null;
      const again = await attempt(url, request);
      if (again.status !== 401) return again;
      tab = null;
      return attempt(url, request);
    },

    async signIn(link) {
      fingerprint = link.fingerprint;
      tab = null;
      proof = null;
      const { boot } = await proved();
      const [device, own] = await Promise.all([newKey(), newKey()]);
      const body = { code: link.code, deviceKey: device.spki, tabKey: own.spki };
      const answer = await post<SignInBody, SignInAnswer>(pagePaths.signIn, {
        ...body,
        proof: await hmacOf(link.secret, signInText({ boot, origin }, body)),
      });
      tab = { id: answer.tab, key: own.privateKey };
      await store.save({ id: answer.device, key: device.privateKey, fingerprint: link.fingerprint });
    },

    distrust: () => void (proof = null),
  };

  async function attempt(url: string, request: RequestInit): Promise<Response> {
    const own = await ownTab();
    const { boot, offsetMs } = await proved();
    const { pathname, search } = new URL(url, origin);
    const method = request.method ?? "GET";
    const headers = new Headers(request.headers);
    if (!headers.has("accept")) headers.set("accept", "application/json");
    const digest = await digestOf(typeof request.body === "string" ? request.body : "");
    const facts = {
      boot,
      origin,
      tab: own.id,
      number: ++lastNumber,
      clockMs: Math.max(0, Math.round(now() + offsetMs)),
      method,
      target: `${pathname}${search}`,
      digest,
    };
    const text = requestText({ ...facts, headers: signedHeaders.map((name) => headers.get(name) ?? "") });
    headers.set("authorization", authorizationOf({ ...facts, signature: await signed(own.key, text) }));
    return sendSafely(url, { ...request, headers });
  }

  /** The key of this tab. After a reload the device opens another one, if the daemon still knows the device. */
  async function ownTab(): Promise<OwnTab> {
    if (tab !== null) return tab;
    opening ??= openTab().finally(() => (opening = null));
    return opening;
  }

  async function openTab(): Promise<OwnTab> {
    const device = await store.load();
    if (device === null) throw signedOut("this browser is not signed in");
    fingerprint ??= device.fingerprint;
    const { boot } = await proved();
    const { privateKey, spki } = await newKey();
    const body = { device: device.id, tabKey: spki };
    const answer = await post<OpenTabBody, SignInAnswer>(pagePaths.openTab, {
      ...body,
      signature: await signed(device.key, openTabText({ boot, origin }, body)),
    });
    tab = { id: answer.tab, key: privateKey };
    return tab;
  }

  /** The daemon has proved itself, just now or a moment ago. */
  async function proved(): Promise<Proof> {
    if (proof !== null && now() - proof.at < proofLifeMs) return proof;
    proving ??= prove().finally(() => (proving = null));
    return proving;
  }

  /** What answers at the port may be any program; all that it gets to see is a random number. */
  async function prove(): Promise<Proof> {
    const nonce = newNonce();
    const sentAt = now();
    const { boot, clockMs, key, signature } = await hello(nonce);
    const isDaemon =
      fingerprint !== null &&
      (await isFromDaemon(fingerprint, key, helloText({ boot, origin }, nonce, clockMs), signature).catch(() => false));
    if (!isDaemon) throw stranger();
    proof = { boot, offsetMs: clockMs - sentAt, at: sentAt };
    return proof;
  }

  /** Whatever is no good answer comes from a program that is not our daemon, and what it says does not count. */
  async function hello(nonce: string): Promise<HelloAnswer> {
    const response = await sendSafely(pagePaths.hello, {
      ...postOf({ nonce }),
      signal: AbortSignal.timeout(helloMs),
    }).catch(neverArrived);
    const answer = response.ok ? await helloIn(response).catch(() => null) : null;
    if (answer === null) throw stranger();
    return answer;
  }

  /** To a daemon that has proved itself. */
  async function post<Body, Answer>(path: string, body: Body): Promise<Answer> {
    const response = await sendSafely(path, postOf(body));
    const answer: unknown = await response.json().catch(unavailable);
    if (!response.ok) throw fromProblem(answer);
    return answer as Answer;
  }

  /** Nothing from a cache, nothing ambient, no redirect, and no service worker in between. */
  async function sendSafely(url: string, request: RequestInit): Promise<Response> {
    if (isIntercepted())
      throw signedOut("another program has had this address, and its service worker reads what this page sends");
    try {
      return await send(url, {
        ...request,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
    } catch (thrown) {
      proof = null;
      return unavailable(thrown);
    }
  }
}

/** A request is sent only after hello was answered. */
function neverArrived(thrown: unknown): never {
  if (!(thrown instanceof TielineError) || thrown.code !== "DAEMON_UNAVAILABLE") throw thrown;
  throw new TielineError(thrown.code, "the daemon does not answer; nothing was sent", {
    remedy: thrown.remedy,
    operands: { ...thrown.operands, arrived: "never" },
    cause: thrown,
  });
}

const helloMs = 5_000;
const longestHello = 2_048;

/** null: not an answer to hello. A stranger's answer may be of any length. */
async function helloIn(response: Response): Promise<HelloAnswer | null> {
  const reader = response.body!.getReader();
  const decoder = new TextDecoder();
  let text = "";
  for (let part = await reader.read(); !part.done; part = await reader.read()) {
    text += decoder.decode(part.value, { stream: true });
    if (text.length > longestHello) {
      await reader.cancel();
      return null;
    }
  }
  const { boot, clockMs, key, signature } = JSON.parse(text) as Partial<Record<string, unknown>>;
  if (
    typeof boot !== "string" ||
    typeof clockMs !== "number" ||
    typeof key !== "string" ||
    typeof signature !== "string"
  )
    return null;
  return { boot, clockMs, key, signature };
}

const postOf = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});

const signedOut = (message: string): TielineError =>
  new TielineError("SESSION_EXPIRED", message, {
    remedy: "run `tieline dash` for a new link",
    operands: { reason: "page" },
  });

const stranger = (): TielineError =>
  new TielineError("DAEMON_UNAVAILABLE", "another program answers at the port of the daemon; nothing was sent to it", {
    remedy: "run `tieline daemon start`, then `tieline dash` for a new link",
    operands: { arrived: "never", stranger: true },
  });
