import { TielineError } from "../../model/errors.ts";

export interface AppServerNotification {
  method: string;
  params: Record<string, unknown>;
}

export interface AppServer extends AsyncDisposable {
  /** Resolves with the result. Rejects with `operands.refused` true when the server said no, false when it was lost. */
  request<Result = Record<string, unknown>>(method: string, params: unknown, signal?: AbortSignal): Promise<Result>;
  /** Hears every notification from now on; the answer stops it. */
  listen(listener: (notification: AppServerNotification) => void): () => void;
  /** Resolves when the connection has ended. */
  closed: Promise<void>;
  close(): Promise<void>;
}

export interface AppServerOptions {
  clientName?: string;
  clientVersion?: string;
  signal?: AbortSignal;
}

interface Frame {
  id?: number | string;
  method?: string;
  params?: Record<string, unknown>;
  result?: unknown;
  error?: { code: number; message: string };
}

interface Pending {
  method: string;
  resolve(result: unknown): void;
  reject(error: TielineError): void;
}

/** Connects to a Codex app server on its unix socket and introduces itself: JSON-RPC in WebSocket text frames. */
export async function connectAppServer(socketPath: string, options: AppServerOptions = {}): Promise<AppServer> {
  const { clientName = "tieline", clientVersion = "0", signal } = options;
  signal?.throwIfAborted();
  const socket = new WebSocket(`ws+unix://${socketPath}`);
  const server = new SocketAppServer(socket, socketPath);
  const abort = () => socket.close();
  signal?.addEventListener("abort", abort, { once: true });
  try {
    await server.opened;
    await server.request("initialize", {
      clientInfo: { name: clientName, title: clientName, version: clientVersion },
      capabilities: { experimentalApi: true, requestAttestation: false },
    });
    server.notify("initialized");
    return server;
  } catch (thrown) {
    await server.close();
    throw thrown;
  } finally {
    signal?.removeEventListener("abort", abort);
  }
}

class SocketAppServer implements AppServer {
  readonly opened: Promise<void>;
  readonly closed: Promise<void>;
  readonly #pending = new Map<number, Pending>();
  readonly #listeners = new Set<(notification: AppServerNotification) => void>();
  #lastId = 0;

  constructor(
    readonly socket: WebSocket,
    readonly socketPath: string,
  ) {
    const opened = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    this.opened = opened.promise;
    this.closed = closed.promise;
    socket.addEventListener("open", () => opened.resolve());
    socket.addEventListener("message", ({ data }) => this.#take(JSON.parse(String(data)) as Frame));
    socket.addEventListener("close", () => {
      opened.reject(this.#lost("connect"));
      for (const pending of this.#pending.values()) pending.reject(this.#lost(pending.method));
      this.#pending.clear();
      closed.resolve();
    });
  }

  async request<Result>(method: string, params: unknown, signal?: AbortSignal): Promise<Result> {
    signal?.throwIfAborted();
    if (this.socket.readyState !== WebSocket.OPEN) throw this.#lost(method);
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, { method, resolve: answer.resolve, reject: answer.reject });
    const abort = () => answer.reject(signal?.reason);
    signal?.addEventListener("abort", abort, { once: true });
    this.socket.send(JSON.stringify({ id, method, params }));
    try {
      return (await answer.promise) as Result;
    } finally {
      this.#pending.delete(id);
      signal?.removeEventListener("abort", abort);
    }
  }

  notify(method: string): void {
    this.socket.send(JSON.stringify({ method }));
  }

  listen(listener: (notification: AppServerNotification) => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    this.socket.close();
    await this.closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take({ id, method, params = {}, result, error }: Frame): void {
    if (method !== undefined) {
      // A frame with both is the server asking for an approval. Those are the user's to answer, never ours.
      if (id === undefined) for (const listener of [...this.#listeners]) listener({ method, params });
      return;
    }
    const pending = this.#pending.get(Number(id));
    if (error) pending?.reject(refused(pending.method, error));
    else pending?.resolve(result);
  }

  #lost(method: string): TielineError {
    return new TielineError(
      "DELIVERY_FAILED",
      `the Codex app server at ${this.socketPath} does not answer (${method})`,
      {
        remedy: "`tieline ls` shows whether the agent still runs",
        operands: { socketPath: this.socketPath, method, refused: false },
      },
    );
  }
}

function refused(method: string, { code, message }: { code: number; message: string }): TielineError {
  return new TielineError("DELIVERY_FAILED", `Codex refused ${method}: ${message}`, {
    remedy: "`tieline show` on the message has the details",
    operands: { method, refused: true, rpcCode: code, rpcMessage: message },
  });
}
