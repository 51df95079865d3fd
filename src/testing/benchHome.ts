import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient, type Client } from "../client/client.ts";

/** A daemon in a process of its own, as people have it, without limits that a benchmark would run into. */
export interface BenchHome extends AsyncDisposable {
  readonly root: string;
  readonly url: string;
  readonly userToken: string;
  readonly user: Client;
  readonly env: Readonly<Record<string, string>>;
}

export const launcher = new URL("../../bin/tieline", import.meta.url).pathname;

export async function startBenchHome(): Promise<BenchHome> {
  const root = mkdtempSync(join(tmpdir(), "tl-bench-"));
  const unlimited = 1_000_000;
  writeFileSync(
    join(root, "config.json"),
    JSON.stringify({ guards: { maxHops: unlimited, perPairPerMinute: unlimited, perSenderPerMinute: unlimited } }),
  );
  const env = {
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    HOME: root,
    TIELINE_HOME: root,
    TIELINE_TMUX_SOCKET: join(root, "tmux.sock"),
  };
  const tieline = async (...args: string[]): Promise<void> => {
    if ((await Bun.spawn([launcher, ...args], { env, stdout: "ignore" }).exited) !== 0)
      throw new Error(`tieline ${args.join(" ")} failed`);
  };
  await tieline("daemon", "start");
  const url = `http://127.0.0.1:${readFileSync(join(root, "port"), "utf8").trim()}`;
  const userToken = readFileSync(join(root, "user.token"), "utf8").trim();
  return {
    root,
    url,
    userToken,
    env,
    user: createClient({ url, token: userToken }, {}),
    async [Symbol.asyncDispose]() {
      await tieline("daemon", "stop");
      rmSync(root, { recursive: true, force: true });
    },
  };
}

export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]!;
}
