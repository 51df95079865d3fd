/** Who may use the page: a link that works once becomes a cookie that works for a week. */
import { sameSecret } from "../identity.ts";

const codeLifeMs = 60_000;
const cookieLifeMs = 7 * 24 * 3_600_000;

export interface PageSessionsOptions {
  readonly personToken: string;
  readonly clock?: () => number;
}

/**
 * Codes are kept in memory, since a link is used at once or never. Cookies are signed with the person's token instead
 * of being kept, so that an open page outlives a restart of the daemon, and none outlives a new token.
 */
export class PageSessions {
  readonly #personToken: string;
  readonly #clock: () => number;
  readonly #codes = new Map<string, number>();

  constructor({ personToken, clock = Date.now }: PageSessionsOptions) {
    if (personToken === "") throw new Error("an empty token signs nothing");
    this.#personToken = personToken;
    this.#clock = clock;
  }

  newCode(): string {
    const now = this.#clock();
    for (const [code, until] of this.#codes) if (until < now) this.#codes.delete(code);
    const code = crypto.randomUUID().replaceAll("-", "");
    this.#codes.set(code, now + codeLifeMs);
    return code;
  }

  /** The Set-Cookie header that the code is worth; null: it was used before, or is too old. */
  redeem(code: string, port: string): string | null {
    const until = this.#codes.get(code);
    this.#codes.delete(code);
    if (until === undefined || until < this.#clock()) return null;
    const expiresAt = String(this.#clock() + cookieLifeMs);
    return `${cookieName(port)}=${expiresAt}.${this.#signature(expiresAt, port)}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${cookieLifeMs / 1000}`;
  }

  /** Does this request come from a browser that was let in? */
  admits(request: Request): boolean {
    const port = portOf(request);
    const value = cookiesOf(request).get(cookieName(port));
    const [expiresAt = "", signature = ""] = value?.split(".") ?? [];
    return sameSecret(signature, this.#signature(expiresAt, port)) && Number(expiresAt) > this.#clock();
  }

  /** The same request, in the person's name. */
  asPerson(request: Request): Request {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${this.#personToken}`);
    headers.delete("cookie");
    return new Request(request, { headers });
  }

  #signature(expiresAt: string, port: string): string {
    return new Bun.CryptoHasher("sha256", this.#personToken).update(`page ${port} ${expiresAt}`).digest("hex");
  }
}

export const portOf = (request: Request): string => /:(\d+)$/.exec(request.headers.get("host") ?? "")?.[1] ?? "80";

/** Cookies know no ports, and another home may have a page of its own on this machine. */
const cookieName = (port: string): string => `tieline_${port}`;

function cookiesOf(request: Request): ReadonlyMap<string, string> {
  const pairs = (request.headers.get("cookie") ?? "").split(";").map((pair) => pair.trim().split("=", 2));
  return new Map(pairs.map(([name = "", value = ""]) => [name, value]));
}
