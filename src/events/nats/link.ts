import type * as Nats from "@nats-io/transport-node";
import { readUntrusted, refusalError, settingsRules } from "../../os/untrustedFile.ts";
import type { Link, OpenLink } from "./publisher.ts";

export interface NatsServer {
  /** `nats://`, `tls://`, with a user and password or a token in front of the host if need be. Several with commas. */
  readonly url: string;
  /** A .creds file. */
  readonly credentialsFile: string | null;
  /** A file with an NKEY seed. */
  readonly nkeyFile: string | null;
  readonly tlsCaFile: string | null;
  readonly tlsCertFile: string | null;
  readonly tlsKeyFile: string | null;
}

/** A server that answers no ping for two of these is taken for dead. */
const pingMs = 5_000;

/** Opens connections to a server. The client is loaded with the first one, because most homes have no server. */
export function natsLinks(server: NatsServer, connectMs = 2_000): OpenLink {
  return async () => {
    const nats = await import("@nats-io/transport-node");
    const options = { ...connectionOptions(server, nats), timeout: connectMs };
    return linkOver(await nats.connect(options));
  };
}

function secretIn(path: string | null): Uint8Array | null {
  const file = path === null ? null : readUntrusted(path, settingsRules(64 << 10));
  if (file === null || file.ok) return file?.bytes ?? null;
  throw refusalError(path!, file);
}

function connectionOptions(server: NatsServer, nats: typeof Nats): Nats.ConnectionOptions {
  const { servers, user, pass, token, tls } = parts(server.url);
  const [credentials, seed] = [secretIn(server.credentialsFile), secretIn(server.nkeyFile)];
  const { tlsCaFile: caFile, tlsCertFile: certFile, tlsKeyFile: keyFile } = server;
  const ownTls = {
    ...(caFile !== null && { caFile }),
    ...(certFile !== null && { certFile }),
    ...(keyFile !== null && { keyFile }),
  };
  return {
    servers,
    name: "tieline",
    pingInterval: pingMs,
    maxReconnectAttempts: -1,
    reconnectTimeWait: 250,
    ...(user !== "" && { user, pass }),
    ...(token !== "" && { token }),
    ...(credentials && { authenticator: nats.credsAuthenticator(credentials) }),
    ...(seed && {
      authenticator: nats.nkeyAuthenticator(new TextEncoder().encode(new TextDecoder().decode(seed).trim())),
    }),
    ...((tls || Object.keys(ownTls).length > 0) && { tls: ownTls }),
  };
}

interface Parts {
  readonly servers: string[];
  readonly user: string;
  readonly pass: string;
  readonly token: string;
  readonly tls: boolean;
}

function parts(urls: string): Parts {
  const all = urls.split(",").map((url) => new URL(url.includes("://") ? url.trim() : `nats://${url.trim()}`));
  const { username = "", password = "" } = all.find((url) => url.username !== "") ?? {};
  return {
    servers: all.map(({ hostname, port }) => `${hostname}:${port || "4222"}`),
    user: password === "" ? "" : decodeURIComponent(username),
    pass: decodeURIComponent(password),
    token: password === "" ? decodeURIComponent(username) : "",
    tls: all.some(({ protocol }) => protocol === "tls:"),
  };
}

/** A server's address as it may be shown. */
export const shownUrl = (urls: string): string => urls.replaceAll(/\/\/[^@/,]*@/g, "//…@");

function linkOver(connection: Nats.NatsConnection): Link {
  let up = true;
  let restored = Promise.withResolvers<void>();
  void follow(connection.status());

  return {
    publish: (subject, payload) => connection.publish(subject, payload),
    flush: () => connection.flush(),
    get up() {
      return up && !connection.isClosed();
    },
    get closed() {
      return connection.isClosed();
    },
    restored: () => restored.promise,
    close: () => connection.close(),
  };

  async function follow(statuses: AsyncIterable<Nats.Status>): Promise<void> {
    for await (const { type } of statuses) {
      if (type === "disconnect" || type === "staleConnection") up = false;
      if (type === "reconnect") up = true;
      if (type === "reconnect" || type === "close") {
        restored.resolve();
        restored = Promise.withResolvers();
      }
    }
  }
}
