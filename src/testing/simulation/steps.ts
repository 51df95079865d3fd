/** What happens in a run: the workload, and the faults. A run is a list of these, made from a seed. */
import type { Random } from "./random.ts";

export type Step = { readonly afterMs: number } & Action;

export type Action =
  | {
      readonly do: "send";
      readonly from: number;
      readonly to: number;
      readonly when: 0 | 1 | 2;
      readonly lines: number;
      readonly ttlMs?: number;
    }
  | { readonly do: "broadcast"; readonly from: number }
  | { readonly do: "ask"; readonly from: number; readonly to: number }
  | { readonly do: "reply"; readonly agent: number }
  | { readonly do: "cancel" | "retry"; readonly nth: number }
  | { readonly do: "spawn" | "adopt" | "kill-agent"; readonly agent: number }
  | { readonly do: "approve" | "type" | "clear" | "enter" | "attach" | "detach" | "copy-mode"; readonly agent: number }
  | { readonly do: "fetch"; readonly agent: number }
  | { readonly do: "fault"; readonly fault: Fault; readonly agent: number; readonly value: number };

export const faults = [
  "swallow-paste",
  "swallow-enter",
  "dialog",
  "dialog-after-paste",
  "typing-after-paste",
  "respawn",
  "exit-to-shell",
  "editor",
  "restart-tmux",
  "silent-client",
  "detach-clients",
  "watch-lost",
  "watch-late",
  "watch-doubled",
  "answer-lost",
  "slow-tmux",
  "commit-lost",
  "kill-at-commit",
  "kill",
  "two-daemons",
  "clock-jump",
  "hook-dies",
  "socket-drops",
  "socket-answer-lost",
  "model-fails",
] as const;
export type Fault = (typeof faults)[number];

/** How often what happens; the rest is sending. */
const workload: readonly (readonly [weight: number, make: (random: Random) => Action])[] = [
  [60, (random) => send(random)],
  [5, (random) => ({ do: "broadcast", from: random.below(4) })],
  [4, (random) => ({ do: "ask", from: random.below(4), to: random.below(3) })],
  [8, (random) => ({ do: "reply", agent: random.below(3) })],
  [3, (random) => ({ do: "cancel", nth: random.below(6) })],
  [3, (random) => ({ do: "retry", nth: random.below(6) })],
  [2, (random) => ({ do: "spawn", agent: random.below(3) })],
  [4, (random) => ({ do: "adopt", agent: random.below(3) })],
  [1, (random) => ({ do: "kill-agent", agent: random.below(3) })],
  [6, (random) => ({ do: "approve", agent: random.below(3) })],
  [4, (random) => ({ do: "type", agent: random.below(3) })],
  [4, (random) => ({ do: random.chance(0.5) ? "clear" : "enter", agent: random.below(3) })],
  [2, (random) => ({ do: random.chance(0.5) ? "attach" : "detach", agent: random.below(3) })],
  [1, (random) => ({ do: "copy-mode", agent: random.below(3) })],
  [6, (random) => ({ do: "fetch", agent: random.below(3) })],
];

function send(random: Random): Action {
  const when = random.chance(0.8) ? 2 : random.chance(0.5) ? 1 : 0;
  const ttlMs = random.chance(0.05) ? 500 + random.below(20_000) : undefined;
  return {
    ...{ do: "send", from: random.below(4), to: random.below(3), when, lines: 1 + random.below(4) },
    ...(ttlMs !== undefined && { ttlMs }),
  };
}

const total = workload.reduce((sum, [weight]) => sum + weight, 0);

export function planSteps(random: Random, count: number): Step[] {
  return Array.from({ length: count }, () => ({ afterMs: pauseMs(random), ...action(random) }));
}

/** Much happens at once, some steps seconds later. */
function pauseMs(random: Random): number {
  if (random.chance(0.35)) return random.below(3);
  return random.chance(0.7) ? random.below(120) : random.below(3_000);
}

function action(random: Random): Action {
  if (random.chance(0.25))
    return { do: "fault", fault: random.pick(faults), agent: random.below(3), value: random.below(1_000) };
  let left = random.below(total);
  for (const [weight, make] of workload) if ((left -= weight) < 0) return make(random);
  return send(random);
}
