/**
 * `gateway`: the outside world. A request with the secret becomes a message, a message to the gateway becomes a signed
 * request. It listens on this machine only, unless told otherwise.
 */
import { resolve } from "node:path";
import { z } from "zod";
import { errorCodes, type ErrorCode } from "../../model/errors.ts";
import { systemClock } from "../../model/ids.ts";
import { maxBodyBytes } from "../../model/message.ts";
import { serveHttp, textUpTo, type HttpConnection, type HttpServer } from "../../os/httpServer.ts";
import { settingsRules, untrustedText } from "../../os/untrustedFile.ts";
import { Refusal, type ObjectApi, type ObjectHandler, type ReceivedMessage } from "../handler.ts";
import type { BuiltinParts } from "./parts.ts";
import { isSignedBy, same, sign, signatureHeader } from "./signature.ts";
import { systemTimers } from "../../os/timers.ts";

export const GatewayOptions = z
  .strictObject({
    secret: z.string().min(16).optional(),
    secretFile: z.string().min(1).optional(),
    host: z.string().default("127.0.0.1"),
    port: z.int().min(0).max(65_535).optional(),
    to: z.string().min(1).optional(),
    allow: z.array(z.string().min(1)).default([]),
    url: z.url({ protocol: /^https?$/ }).optional(),
    retries: z.int().min(0).max(20).default(4),
    retryMs: z.int().min(1).max(60_000).default(500),
    requestTimeoutMs: z.int().min(1).max(600_000).default(10_000),
  })
  .refine(
    ({ secret, secretFile }) => (secret === undefined) !== (secretFile === undefined),
    "a map with either secret or secretFile",
  )
  .refine(
    ({ port, url }) => port !== undefined || url !== undefined,
    "a map with a port to listen at, a url to send to, or both",
  );
type Options = z.output<typeof GatewayOptions>;

const Incoming = z.object({
  to: z.string().optional(),
  content: z.string(),
  id: z.string().min(1).max(150).optional(),
});

/** What a single attempt may answer and be worth another. */
const passing = [408, 425, 429];
/** JSON may write one byte of content as six. */
const maxRequestBytes = 6 * maxBodyBytes + 4_096;

export interface Gateway extends ObjectHandler {
  /** Where it listens; null: it does not. */
  address(): string | null;
}

export function gateway({ root, clock = systemClock, timers = systemTimers }: BuiltinParts): Gateway {
  let options: Options;
  let secret: string;
  let api: ObjectApi;
  let server: HttpServer | null = null;
  let closing = new AbortController();

  return {
    interface: 'in: POST {"to","content","id"} with the secret · out: every message to gateway becomes a signed POST',
    address: () => server && `http://${options.host}:${server.port}/`,

    async init(given, settings) {
      api = given;
      closing = new AbortController();
      options = GatewayOptions.parse(settings);
      secret = secretOf(options, root);
      if (options.port === undefined) return;
      const report = (context: string, fault: unknown): void => api.log(`${context}: ${String(fault)}`);
      server = await serveHttp({ hostname: options.host, port: options.port, fetch: receive, report });
      api.log(`listening at http://${options.host}:${server.port}/`);
    },

    async onMessage(_, __, { message }) {
      if (options.url === undefined) throw new Refusal("this gateway only takes messages in: its options have no url");
      await deliver(options.url, message);
    },

    async close() {
      closing.abort();
      await server?.[Symbol.asyncDispose]();
    },
  };

  async function receive(request: Request, connection: HttpConnection): Promise<Response> {
    if (request.method !== "POST") return problem("USAGE", "use POST");
    const text = await textUpTo(maxRequestBytes, request);
    if (text === null) return problem("BODY_TOO_LONG", `the body is longer than ${maxRequestBytes} bytes`);
    const signature = request.headers.get(signatureHeader);
    if (!isAuthentic(request, text, signature))
      return problem("IDENTITY_UNKNOWN", "the request carries neither the secret nor a valid signature");
    connection.admit();
    const incoming = incomingOf(text, request);
    if (incoming === null) return problem("USAGE", 'the body must be {"content": …}, with "to" and "id" if you like');
    const to = incoming.to ?? options.to;
    if (to === undefined) return problem("ADDRESS_UNKNOWN", 'say "to" whom: this gateway has no receiver of its own');
    if (to !== options.to && !options.allow.includes(to))
      return problem("ROUTE_DENIED", `this gateway does not write to ${to}`);
    // A request that is sent again with its signature is the same request.
    const name = incoming.id ?? signature;
    try {
      const { id, tag } = await api.send(to, incoming.content, name === null ? {} : { key: `in:${name}` });
      return Response.json({ id, tag }, { status: 202 });
    } catch (thrown) {
      const { code, message } = thrown as Error & { code?: ErrorCode };
      return problem(code !== undefined && code in errorCodes ? code : "INTERNAL", message);
    }
  }

  function isAuthentic(request: Request, text: string, signature: string | null): boolean {
    if (signature !== null) return isSignedBy(secret, text, signature, clock());
    return same(request.headers.get("authorization") ?? "", `Bearer ${secret}`);
  }

  /**
   * Until the far side took it. The message's id is the same at each try, so that the far side can tell a repetition.
   */
  async function deliver(url: string, message: ReceivedMessage): Promise<void> {
    const body = JSON.stringify({ ...message, team: api.team });
    let trouble = "";
    for (let attempt = 0; attempt <= options.retries && !closing.signal.aborted; attempt++) {
      if (attempt > 0) await timers.pause(Math.min(options.retryMs * 2 ** (attempt - 1), 30_000));
      const answer = await post(url, body);
      if (answer === 200) return;
      trouble = String(answer);
      if (typeof answer === "number" && answer < 500 && !passing.includes(answer)) break;
    }
    throw new Refusal(`${url} did not take it: ${trouble}`);
  }

  /** 200 for any success, another status, or why there was none. */
  async function post(url: string, body: string): Promise<number | string> {
    const headers = { "content-type": "application/json", [signatureHeader]: sign(secret, body, clock()) };
    const signal = AbortSignal.any([closing.signal, timers.timeout(options.requestTimeoutMs)]);
    try {
      const response = await fetch(url, { method: "POST", headers, body, redirect: "manual", signal });
      await response.body?.cancel();
      return response.ok ? 200 : response.status;
    } catch (thrown) {
      return thrown instanceof Error ? thrown.message : String(thrown);
    }
  }
}

/** How long the gateway may take for one message: all its tries and the pauses between them. */
export function gatewayPatienceMs(settings: Readonly<Record<string, unknown>>): number {
  const parsed = GatewayOptions.safeParse(settings);
  if (!parsed.success) return 10_000;
  const { retries, retryMs, requestTimeoutMs } = parsed.data;
  const pausesMs = Array.from({ length: retries }, (_, at) => Math.min(retryMs * 2 ** at, 30_000)).reduce(
    (sum, ms) => sum + ms,
    0,
  );
  return (retries + 1) * requestTimeoutMs + pausesMs + 1_000;
}

function secretOf({ secret, secretFile }: Options, root: string): string {
  const text = secret ?? (untrustedText(resolve(root, secretFile!), settingsRules(64 << 10)) ?? "").trim();
  if (text.length < 16) throw new Error("the secret needs at least 16 characters");
  return text;
}

/**
 * JSON as documented; any other text is the content itself. Many send JSON without a word about it, or call it a form.
 */
function incomingOf(text: string, request: Request): z.output<typeof Incoming> | null {
  const type = request.headers.get("content-type") ?? "";
  const parsed = type.startsWith("text/") ? undefined : jsonIncoming(text);
  if (parsed) return parsed;
  return type.includes("json") || text.trim() === "" ? null : { content: text };
}

function jsonIncoming(text: string): z.output<typeof Incoming> | undefined {
  try {
    return Incoming.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

function problem(code: ErrorCode, detail: string): Response {
  const { http: status } = errorCodes[code];
  return Response.json(
    { type: "about:blank", title: code, status, code, detail },
    { status, headers: { "content-type": "application/problem+json" } },
  );
}
