/**
 * How the dashboard and the daemon prove themselves to each other. Both sides build every signed text here.
 *
 *   hello     page → daemon: a random nonce.  daemon → page: its boot id and clock, signed with its page key.
 *   sign in   page → daemon: the public keys of the device and of the tab, with an HMAC under the one-time code.
 *   open tab  page → daemon: the public key of the tab, signed with the device key. Only in the boot of the sign-in.
 *   request   page → daemon: any API call, signed with the tab key.
 *
 * The page verifies the hello against the daemon's fingerprint before it sends anything else. A tab key exists only in
 * the memory of its tab and stays valid across restarts of the daemon; the device key is in the storage of the page's
 * origin.
 */

export const pagePaths = { hello: "/page/hello", signIn: "/page/sign-in", openTab: "/page/tab" } as const;
/** The scheme of the Authorization header of a signed request. */
export const tabScheme = "Tieline-Tab";
/** Headers that change what a request means, in the order in which their values are signed. */
export const signedHeaders = ["accept", "last-event-id", "x-tieline-caller"] as const;

export const keyAlgorithm = { name: "ECDSA", namedCurve: "P-256" } as const;
export const signatureAlgorithm = { name: "ECDSA", hash: "SHA-256" } as const;

export interface HelloAnswer {
  readonly boot: string;
  /** Milliseconds since the daemon started. It never jumps, as the time of day may. */
  readonly clockMs: number;
  /** The daemon's public key: SPKI, base64url. */
  readonly key: string;
  readonly signature: string;
}

export interface SignInBody {
  /** Which code; the code itself is never sent. */
  readonly code: string;
  readonly deviceKey: string;
  readonly tabKey: string;
  readonly proof: string;
}

export interface OpenTabBody {
  readonly device: string;
  readonly tabKey: string;
  readonly signature: string;
}

export interface SignInAnswer {
  readonly device: string;
  readonly tab: string;
}

/** Where a text is valid: this boot of the daemon, this origin of the page. */
export interface PageContext {
  readonly boot: string;
  readonly origin: string;
}

export interface RequestFacts extends PageContext {
  readonly tab: string;
  /** Counts up in the tab; the daemon accepts each number once. */
  readonly number: number;
  readonly clockMs: number;
  readonly method: string;
  /** Path and query. */
  readonly target: string;
  /** SHA-256 of the body, base64url. */
  readonly digest: string;
  /** The values of `signedHeaders`; "" for one that is not there. */
  readonly headers: readonly string[];
}

export const helloText = ({ boot, origin }: PageContext, nonce: string, clockMs: number): string =>
  textFor("hello", boot, origin, nonce, clockMs);

export const signInText = (
  { boot, origin }: PageContext,
  { code, deviceKey, tabKey }: Omit<SignInBody, "proof">,
): string => textFor("sign in", boot, origin, code, deviceKey, tabKey);

export const openTabText = (
  { boot, origin }: PageContext,
  { device, tabKey }: Omit<OpenTabBody, "signature">,
): string => textFor("open tab", boot, origin, device, tabKey);

export const requestText = ({
  boot,
  origin,
  tab,
  number,
  clockMs,
  method,
  target,
  digest,
  headers,
}: RequestFacts): string => textFor("request", boot, origin, tab, number, clockMs, method, target, digest, ...headers);

/** JSON keeps the parts apart, and the purpose keeps a signature from counting for anything else. */
const textFor = (purpose: string, ...parts: readonly (string | number)[]): string =>
  JSON.stringify(["tieline page 1", purpose, ...parts]);

export type RequestHead = Pick<RequestFacts, "tab" | "boot" | "number" | "clockMs" | "digest"> & {
  readonly signature: string;
};

export const authorizationOf = ({ tab, boot, number, clockMs, digest, signature }: RequestHead): string =>
  [tabScheme, tab, boot, number, clockMs, digest, signature].join(" ");

const authorization = new RegExp(
  `^${tabScheme} ([\\w-]{1,64}) ([\\w-]{1,64}) (\\d{1,15}) (\\d{1,15}) ([\\w-]{43}) ([\\w-]{1,128})$`,
);

/** null: not an Authorization header of a signed request. */
export function requestHeadIn(header: string): RequestHead | null {
  const [, tab = "", boot = "", number = "", clockMs = "", digest = "", signature = ""] =
    authorization.exec(header) ?? [];
  return signature === "" ? null : { tab, boot, number: Number(number), clockMs: Number(clockMs), digest, signature };
}

/** The part of a link behind its `#`: a code that works once, and the fingerprint of the daemon that gave it. */
export interface SignInLink {
  readonly code: string;
  readonly secret: string;
  readonly fingerprint: string;
}

export const fragmentOf = ({ code, secret, fingerprint }: SignInLink): string =>
  `#sign-in/${code}/${secret}/${fingerprint}`;

export function linkIn(fragment: string): SignInLink | null {
  const [, code = "", secret = "", fingerprint = ""] =
    /^#sign-in\/([\w-]{1,64})\/([\w-]{1,64})\/([\w-]{43})$/.exec(fragment) ?? [];
  return fingerprint === "" ? null : { code, secret, fingerprint };
}

export function base64url(bytes: Uint8Array | ArrayBuffer): string {
  const text = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

export function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (one) => one.charCodeAt(0));
}
