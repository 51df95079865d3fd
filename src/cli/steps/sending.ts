import type { Client } from "../../client/client.ts";
import type { Home } from "../../client/home.ts";
import type { Input, ReceiptView } from "../../api/schema.ts";
import type { When } from "../../model/message.ts";
import type { Wanted } from "../../model/receipt.ts";
import type { Flags, FlagValues, StandardValues } from "../command.ts";
import { receiptLines } from "../output/receipts.ts";
import type { Terminal } from "../output/terminal.ts";
import { positiveDurationMs } from "../input/times.ts";
import { uuidv4 } from "../../model/ids.ts";

/** The words of a command that are its text. */
export const textMeaning = { field: "body", note: "several words are joined by spaces" } as const;

/** What send, broadcast and reply have in common. */
export const sendingFlags = {
  file: { short: "f", value: "FILE", complete: "file", summary: "read the text from a file; - is stdin" },
  stdin: { short: "", summary: "read the text from stdin" },
  when: {
    value: "WHEN",
    choices: ["turn", "tool", "interrupt"] as const satisfies readonly When[],
    field: "when",
  },
  hard: { field: "hard" },
  wait: {
    value: "STATE",
    choices: ["delivered", "seen", "answered"] as const satisfies readonly Wanted[],
    field: "wait",
    note: "returns when every recipient has reached it",
  },
  timeout: {
    value: "TIME",
    parse: positiveDurationMs,
    summary: "how long --wait waits; delivery.readyTimeoutMs (30s), for answered 10m",
  },
  ttl: { value: "TIME", parse: positiveDurationMs, field: "ttlMs" },
  key: { value: "KEY", field: "key" },
  from: { value: "NAME", field: "from" },
} as const satisfies Flags;

export type SendingValues = FlagValues<typeof sendingFlags> & StandardValues;
type DraftInput = Omit<Input<"reply">, "tag">;

/** A key for every send, so that doing it again after a crash is the same send. */
export async function draftOf(
  words: readonly string[],
  flags: SendingValues,
  makeKey = (): string => uuidv4(),
): Promise<DraftInput> {
  const { when, hard, wait, ttl, from } = flags;
  return {
    body: await bodyOf(words, flags),
    key: flags.key ?? makeKey(),
    ...(when && { when }),
    ...(hard && { hard }),
    ...(wait && { wait }),
    ...(ttl !== undefined && { ttlMs: ttl }),
    ...(from !== undefined && { from }),
  };
}

async function bodyOf(words: readonly string[], flags: SendingValues): Promise<string> {
  if (flags.file === undefined && !flags.stdin && words.length > 0) return words.join(" ");
  const { readBody } = await import("../input/body.ts");
  return readBody(words, flags.stdin ? "-" : flags.file);
}

export interface Conclusion {
  readonly home: Pick<Home, "config">;
  readonly flags: SendingValues;
  readonly daemon: Client;
  readonly terminal: Terminal;
}

/** Shows what became of a message, after waiting for it if that was asked for. Resolves with the exit code. */
export async function conclude(receipt: ReceiptView, { home, flags, daemon, terminal }: Conclusion): Promise<number> {
  if (flags.wait !== undefined) {
    const { follow } = await import("./follow.ts");
    const timeoutMs = flags.timeout ?? (await patienceMs(flags.wait, home));
    return follow(receipt, flags.wait, { daemon, terminal, json: flags.json ?? false, timeoutMs });
  }
  if (flags.json) await terminal.json(receipt);
  else await terminal.print(receiptLines(receipt, terminal.paint, terminal.now()));
  return exitCodeOf(receipt);
}

/** How long a sender waits who did not say: for a pane to become ready as the home says, for an answer ten minutes. */
async function patienceMs(wanted: Wanted, home: Pick<Home, "config">): Promise<number> {
  if (wanted === "answered") return 600_000;
  const { loadHomeConfig } = await import("../../config/home.ts");
  return loadHomeConfig(home.config).delivery.readyTimeoutMs;
}

/** 6 when a broadcast was refused for some, 3 when for all. */
export function exitCodeOf({ successful = [], failed = [] }: ReceiptView): number {
  if (failed.length === 0) return 0;
  return successful.length > 0 ? 6 : 3;
}
