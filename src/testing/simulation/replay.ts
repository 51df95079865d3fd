/** Files that hold a run: a seed, and the steps that were left after it was made smaller. */
import { readFileSync, writeFileSync } from "node:fs";
import { z } from "zod";
import { TielineError } from "../../model/errors.ts";
import { faults, type Step } from "./steps.ts";

/** Raised whenever the same steps would mean something else. */
const replayVersion = 1;

export interface Replay {
  readonly seed: number;
  readonly steps: readonly Step[];
  /** The oracle that it broke when it was found. */
  readonly broke: string;
}

const agent = z.int().min(0).max(2);
const sender = z.int().min(0).max(3);
const acts = [
  "spawn",
  "adopt",
  "kill-agent",
  "approve",
  "type",
  "clear",
  "enter",
  "attach",
  "detach",
  "copy-mode",
  "fetch",
] as const;
const afterMs = z.number().min(0);
const step = z.discriminatedUnion("do", [
  z.strictObject({
    ...{
      afterMs,
      do: z.literal("send"),
      from: sender,
      to: agent,
      when: z.literal([0, 1, 2]),
      lines: z.int().min(1).max(100),
    },
    ttlMs: z.int().min(1).exactOptional(),
  }),
  z.strictObject({ afterMs, do: z.literal("broadcast"), from: sender }),
  z.strictObject({ afterMs, do: z.literal("ask"), from: sender, to: agent }),
  z.strictObject({ afterMs, do: z.literal("reply"), agent }),
  z.strictObject({ afterMs, do: z.enum(["cancel", "retry"]), nth: z.int().min(0) }),
  z.strictObject({ afterMs, do: z.enum(acts), agent }),
  z.strictObject({ afterMs, do: z.literal("fault"), fault: z.enum(faults), agent, value: z.int().min(0) }),
]);
const file = z.strictObject({
  version: z.literal(replayVersion),
  seed: z.int().min(0),
  broke: z.string(),
  steps: z.array(step).max(100_000),
});

export function readReplay(path: string): Replay {
  const found = parsed(path);
  const version = (found as { readonly version?: unknown } | null)?.version;
  if (typeof version === "number" && version !== replayVersion)
    throw invalid(path, `it has version ${version}, and this simulation reads version ${replayVersion}`, {
      remedy: "run it with the commit that wrote it, or look for the fault again: npm run simulate",
    });
  const read = file.safeParse(found);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw invalid(path, `it is not a simulation (${issue?.path.join(".") || "the whole"}: ${issue?.message})`);
}

export function writeReplay(path: string, replay: Replay): void {
  writeFileSync(path, `${JSON.stringify({ version: replayVersion, ...replay }, null, 1)}\n`);
}

function parsed(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (cause) {
    throw invalid(path, "it cannot be read", { cause });
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalid(path, "it is not JSON", { cause });
  }
}

const invalid = (path: string, why: string, more: { remedy?: string; cause?: unknown } = {}): TielineError =>
  new TielineError("CONFIG_INVALID", `${path}: ${why}`, {
    remedy: "give a file that a failing `npm run simulate` wrote; fixtures/simulation has some",
    operands: { source: path },
    ...more,
  });
