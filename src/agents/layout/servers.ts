import { TmuxServer, type TmuxServerOptions } from "../../tmux/server.ts";

/** One connection per tmux server, made when it is first needed. */
export class TmuxServers implements AsyncDisposable {
  private readonly bySocket = new Map<string, TmuxServer>();

  constructor(
    private readonly options: Omit<TmuxServerOptions, "socketPath">,
    private readonly debug: ((line: string) => void) | null = null,
    /** Told the socket of a server whose clients came, went or moved. */
    private readonly onPeople: (socketPath: string) => void = () => undefined,
  ) {}

  at(socketPath: string): TmuxServer {
    let server = this.bySocket.get(socketPath);
    if (server === undefined)
      this.bySocket.set(
        socketPath,
        (server = this.debugged(
          new TmuxServer({ ...this.options, socketPath, onPeople: () => this.onPeople(socketPath) }),
        )),
      );
    return server;
  }

  /** Commands carry bodies and secrets, so the log shows their beginnings only. */
  private debugged(server: TmuxServer): TmuxServer {
    const { debug } = this;
    if (debug === null) return server;
    const run = server.run.bind(server);
    server.run = async (list) => {
      const said = (typeof list === "string" ? list : list.map((words) => words[0]).join(" ; ")).slice(0, 200);
      const answer = await run(list);
      debug(`tmux ${said} → ${answer.length} lines`);
      return answer;
    };
    return server;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.bySocket.values()].map((server) => server.close()));
  }
}
