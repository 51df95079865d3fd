import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "../client/client.ts";
import { homeOf, type Home } from "../client/home.ts";
import type { Caller, ReceiptView } from "../api/schema.ts";
import { startDaemon } from "../daemon/daemon.ts";

/** A whole daemon in this process, in a home of its own, with its socket and its loopback port. */
export interface TestDaemon extends AsyncDisposable {
  readonly home: Home;
  readonly url: string;
  readonly userToken: string;
  /** The user. */
  readonly user: Client;
  /** Calls over the loopback port. */
  with(token: string, caller?: Caller): Client;
  /** A new agent that fetches its mail, and how it calls. */
  agent(name: string): Promise<{ readonly token: string; readonly client: Client }>;
}

export async function startTestDaemon({ config = {} }: { config?: object } = {}): Promise<TestDaemon> {
  const root = mkdtempSync(join(tmpdir(), "tl-daemon-"));
  const home = homeOf({ TIELINE_HOME: root });
  writeFileSync(home.config, JSON.stringify(config));
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: root };
  const daemon = await startDaemon({
    home,
    version: "0.0.0",
    tmuxSocket: join(root, "tmux.sock"),
    env,
    binDirectory: new URL("../../bin", import.meta.url).pathname,
  });
  const url = `http://127.0.0.1:${readFileSync(home.portFile, "utf8").trim()}`;
  const userToken = readFileSync(home.userToken, "utf8").trim();
  const withToken = (token: string, caller: Caller = {}): Client => createClient({ url, token }, caller);
  const user = withToken(userToken);
  return {
    home,
    url,
    userToken,
    user,
    with: withToken,
    async agent(name) {
      const { token } = await user.call("register", { name });
      return { token, client: withToken(token) };
    },
    async [Symbol.asyncDispose]() {
      daemon.stop();
      await daemon.stopped;
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export const stateOf = async (client: Client, { tag }: Pick<ReceiptView, "tag">): Promise<string> =>
  (await client.call("status", { tag })).deliveries[0]!.state;
