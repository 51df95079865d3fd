import { TmuxServer, type TmuxServerOptions } from "../tmux/server.ts";

/** One connection per tmux server, made when it is first needed. */
export class TmuxServers implements AsyncDisposable {
  private readonly bySocket = new Map<string, TmuxServer>();

  constructor(private readonly options: Omit<TmuxServerOptions, "socketPath">) {}

  at(socketPath: string): TmuxServer {
    let server = this.bySocket.get(socketPath);
    if (server === undefined) this.bySocket.set(socketPath, (server = new TmuxServer({ ...this.options, socketPath })));
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.bySocket.values()].map((server) => server.close()));
  }
}
