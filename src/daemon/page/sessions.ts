/** Who may use the dashboard: checks what src/client/pageProtocol.ts describes, in this run of the daemon. */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  fragmentOf,
  helloText,
  openTabText,
  requestHeadIn,
  requestText,
  signedHeaders,
  signInText,
  tabScheme,
  type PageContext,
  type HelloAnswer,
  type OpenTabBody,
  type SignInAnswer,
  type SignInBody,
} from "../../client/pageProtocol.ts";
import { longestBodyBytes } from "../../api/wire.ts";
import { TielineError } from "../../model/errors.ts";
import { textOf } from "../http.ts";
import { LoginCodes } from "./codes.ts";
import { deviceName } from "./deviceName.ts";
import { Devices, type OpenTab } from "./devices.ts";
import { isSignedBy, pageKeyIn, publicKeyIn, type PageKey } from "./key.ts";
import { LinkFiles } from "./linkFiles.ts";
import { ReplayWindow } from "./replayWindow.ts";
import { systemClock, systemRandom, type RandomBytes } from "../../model/ids.ts";
import { systemTimers, type Timers } from "../../os/timers.ts";

export interface PageSessionsOptions {
  /** A directory of the home for keys, devices and link files. */
  readonly directory: string;
  readonly userToken: string;
  /** The ports that this daemon answers at. */
  readonly ports: () => ReadonlySet<number>;
  /** The time of day. */
  readonly clock?: () => number;
  /** Milliseconds since the daemon started; never jumps. */
  readonly now?: () => number;
  readonly timers?: Timers;
  readonly random?: RandomBytes;
  readonly told: (note: string) => void;
  readonly report: (context: string, fault: unknown) => void;
}

export interface LinkWish {
  readonly port: number;
  /** Link to 127.0.0.1 instead of the private host name of this boot. */
  readonly byAddress: boolean;
  /** Write a file that leads there into this directory. */
  readonly fileIn: string | null;
}

export interface Admitted {
  /** The request in the user's name. */
  readonly request: Request;
  /** Aborted when the tab is signed out. */
  readonly signal: AbortSignal;
}

/** How far a page's idea of the daemon's clock may be off. */
const clockSlackMs = 30_000;

export class PageSessions {
  readonly boot: string;
  /**
   * A host name below `localhost` that is new with every boot. A program that has the port while the daemon is down can
   * leave service workers, cached pages and open tabs behind for the origin it was visited at; nothing can have been
   * left for a name that did not exist yet.
   */
  readonly host: string;
  readonly devices: Devices;
  readonly #options: PageSessionsOptions;
  readonly #now: () => number;
  readonly #key: PageKey;
  readonly #codes: LoginCodes;
  readonly #files: LinkFiles;
  readonly #windows = new WeakMap<OpenTab, ReplayWindow>();

  constructor(options: PageSessionsOptions) {
    const { directory, clock = systemClock, timers = systemTimers, random = systemRandom, report, told } = options;
    this.boot = Buffer.from(random(16)).toString("base64url");
    this.host = `tieline-${Buffer.from(random(10)).toString("hex")}.localhost`;
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.#options = options;
    const startedAt = timers.elapsed();
    this.#now = options.now ?? (() => Math.round(timers.elapsed() - startedAt));
    this.#key = pageKeyIn(join(directory, "daemon.key"), told);
    this.#codes = new LoginCodes({ now: this.#now, timers, random });
    this.#files = new LinkFiles(directory, report, random);
    this.devices = new Devices({
      ...{ file: join(directory, "devices.json"), boot: this.boot, clock, timers, random, report },
    });
  }

  /** A link that signs one browser in, once. */
  link({ port, byAddress, fileIn }: LinkWish): { url: string; file: string | null } {
    const origin = `http://${byAddress ? "127.0.0.1" : this.host}:${port}`;
    let file: string | null = null;
    const { id, secret } = this.#codes.create(origin, () => file && this.#files.remove(file));
    const url = `${origin}/${fragmentOf({ code: id, secret, fingerprint: this.#key.fingerprint })}`;
    if (fileIn !== null) file = this.#files.write(url, fileIn);
    return { url, file };
  }

  /** Proves to a page that this is the daemon. Only for origins of its own: another port could pass the proof on. */
  hello(request: Request, nonce: string): HelloAnswer {
    const context = this.#contextOf(request);
    const clockMs = this.#now();
    return {
      boot: this.boot,
      clockMs,
      key: this.#key.spki,
      signature: this.#key.sign(helloText(context, nonce, clockMs)),
    };
  }

  signIn(request: Request, { proof, ...body }: SignInBody): SignInAnswer {
    const context = this.#contextOf(request);
    if (!publicKeyIn(body.deviceKey) || !publicKeyIn(body.tabKey))
      throw expired("key", "the key is not an ECDSA P-256 key");
    if (!this.#codes.redeem(body.code, context.origin, signInText(context, body), proof)) {
      throw expired("code", "this link was used already, or is older than a minute");
    }
    const name = deviceName(request.headers.get("user-agent") ?? "");
    const { id, device } = this.devices.add({ name, key: body.deviceKey, origin: context.origin }, body.tabKey);
    this.#options.told(`${name} signed in to the dashboard (device ${device.id})`);
    return { device: device.id, tab: id };
  }

  openTab(request: Request, { signature, ...body }: OpenTabBody): SignInAnswer {
    const context = this.#contextOf(request);
    const device = this.devices.device(body.device);
    const key = device && publicKeyIn(device.key);
    if (!device || !key || device.origin !== context.origin) throw expired("device", "this browser is not signed in");
    if (!this.devices.isActive(device))
      throw expired("device", "the daemon was restarted after this browser signed in");
    if (!isSignedBy(key, openTabText(context, body), signature))
      throw expired("signature", "the signature is not the device's");
    if (!publicKeyIn(body.tabKey)) throw expired("key", "the key is not an ECDSA P-256 key");
    return { device: device.id, tab: this.devices.openTab(device, body.tabKey).id };
  }

  /** Whether a request claims to come from a signed-in tab. */
  claims(request: Request): boolean {
    return request.headers.get("authorization")?.startsWith(`${tabScheme} `) ?? false;
  }

  /** The request of a signed-in tab, each only once. Nothing of the body is read before the signature was checked. */
  async admit(request: Request, url: URL): Promise<Admitted> {
    const head = requestHeadIn(request.headers.get("authorization") ?? "");
    const tab = head && this.devices.tab(head.tab);
    if (!head || !tab) throw expired("tab", "this browser is not signed in");
    const { origin } = this.#contextOf(request);
    if (origin !== tab.origin) throw foreign(origin);
    if (head.boot !== this.boot) throw expired("boot", "the daemon was restarted");
    if (Math.abs(this.#now() - head.clockMs) > clockSlackMs) throw expired("clock", "the request is too old");
    const headers = signedHeaders.map((name) => request.headers.get(name) ?? "");
    const facts = { ...head, origin, method: request.method, target: `${url.pathname}${url.search}`, headers };
    if (!isSignedBy(tab.key, requestText(facts), head.signature))
      throw expired("signature", "the signature is not the tab's");
    if (!this.#windowOf(tab).accept(head.number)) throw expired("replay", "the request was made before");
    const body = request.method === "GET" ? "" : await textOf(request, longestBodyBytes);
    if (createHash("sha256").update(body).digest("base64url") !== head.digest)
      throw expired("body", "the body is not what was signed");
    this.devices.used(tab);
    return { request: this.#asUser(request, body), signal: tab.signal };
  }

  /** Signs out every browser, and voids every link. */
  revokeAll(): void {
    this.#codes.clear();
    this.devices.revoke(this.devices.list().map(({ id }) => id));
  }

  [Symbol.dispose](): void {
    this.#codes.clear();
    this.devices.flush();
  }

  /** Where a request of the page counts. Browsers name the origin in POSTs, and whether it is the same in all. */
  #contextOf(request: Request): PageContext {
    const host = request.headers.get("host") ?? "";
    const own = `http://${host}`;
    const origin =
      request.headers.get("origin") ?? (request.headers.get("sec-fetch-site") === "same-origin" ? own : "no page");
    const port = Number(/:(\d+)$/.exec(host)?.[1] ?? 80);
    if (origin !== own || !this.#options.ports().has(port)) throw foreign(origin);
    return { boot: this.boot, origin };
  }

  #windowOf(tab: OpenTab): ReplayWindow {
    const known = this.#windows.get(tab) ?? new ReplayWindow();
    this.#windows.set(tab, known);
    return known;
  }

  #asUser(request: Request, body: string): Request {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${this.#options.userToken}`);
    return new Request(request.url, { method: request.method, headers, ...(request.method !== "GET" && { body }) });
  }
}

const expired = (reason: string, message: string): TielineError =>
  new TielineError("SESSION_EXPIRED", message, { remedy: "run `tieline dash` for a new link", operands: { reason } });

const foreign = (origin: string): TielineError =>
  new TielineError("NOT_PERMITTED", `the dashboard is not at ${origin}`, {
    remedy: "run `tieline dash` for a link to it",
    operands: { origin },
  });
