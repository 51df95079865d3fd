import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { HoldReason } from "../../../model/delivery.ts";
import { isPlaying, play, screenPlayerCommand, typedInto } from "../../../testing/screenPlayer.ts";
import { genericScreens, labelledScreens, type LabelledScreen } from "../../../testing/screens.ts";
import { openStage, type Cast, type Stage } from "../../../testing/stage.ts";
import { until } from "../../../testing/until.ts";

/**
 * The captured screens of real programs, shown in a real pane, with mail for the agent there. What a pane cannot
 * show again is left out: a shell in the foreground means that the program is gone, and copy mode is tmux's own.
 */
// The player has no screen of its own, as viewers and editors have; those are known by their process.
const generic = genericScreens()
  .filter(({ screen, state }) => !screen.alternate && state !== "unknown")
  .map((one) => ({ ...one, screen: { title: "generic", ...one.screen } }));
const playable = [...labelledScreens(), ...generic].filter(
  ({ screen: { title, cursor, width, height, command = "", copyMode } }) => {
    return (
      title !== undefined &&
      cursor !== undefined &&
      width !== undefined &&
      height !== undefined &&
      !copyMode &&
      !command.endsWith("sh")
    );
  },
);
/** Where a label does not say what the pane ran. */
const usualCommand: Readonly<Record<string, string>> = {
  "claude-code": "claude",
  codex: "codex",
  gemini: "node",
  opencode: "opencode",
  pi: "pi",
  shell: "bash",
  repl: "python3",
  generic: "node",
};
const commandOf = ({ provider, screen }: LabelledScreen): string => screen.command ?? usualCommand[provider] ?? "node";
const unsafe = playable.filter(({ state, draft }) => state !== "idle" || draft);

const reasons: Record<string, HoldReason> = {
  permission: "permission",
  question: "question",
  dialog: "dialog",
  limited: "limited",
  working: "busy",
  unknown: "unreadable",
  done: "offline",
  idle: "draft",
};

test("types only into idle screens with an empty composer, and the hold reason says why", async () => {
  await using stage = await openStage();
  const players = new Map<string, Player>();
  const wrong: string[] = [];
  for (const screen of unsafe) {
    const key = `${screen.provider} ${commandOf(screen)}`;
    const player = players.get(key) ?? (await openPlayer(stage, screen, `p${players.size}`));
    players.set(key, player);
    await resize(stage, player, screen);
    await show(stage, player, screen);
    const receipt = await stage.send(player.cast.agent.name, "must not be typed");
    const held = await stage.delivered(receipt, (delivery) => delivery.reason !== null || delivery.state !== "queued");
    if (held.state !== "queued" || held.reason !== reasons[screen.state])
      wrong.push(`${screen.file}: ${held.state}, ${held.reason} (${held.detail})`);
    await stage.tieline.mailbox.cancel(receipt.message.id);
  }
  expect(wrong).toEqual([]);
  expect([...players.values()].map(({ dir }) => typedInto(dir)).join("")).toBe("");
  expect(unsafe.length).toBeGreaterThan(100);
  console.log(`${unsafe.length} of ${playable.length} playable screens are unsafe; nothing was typed into them`);
}, 180_000);

interface Player {
  readonly cast: Cast;
  readonly dir: string;
}

async function openPlayer(stage: Stage, screen: LabelledScreen, name: string): Promise<Player> {
  const dir = mkdtempSync(join(stage.tmux.dir, "player-"));
  mkdirSync(dir, { recursive: true });
  const cast = await stage.cast(name, screenPlayerCommand(dir, commandOf(screen)), {
    provider: screen.provider,
    ready: () => isPlaying(dir),
  });
  return { cast, dir };
}

async function resize(stage: Stage, { cast }: Player, { screen: { width, height } }: LabelledScreen): Promise<void> {
  await stage.tmux.tmux("resize-window", "-t", cast.pane, "-x", String(width), "-y", String(height));
}

/** A capture is the whole truth once the pane shows the same again. */
async function show(
  stage: Stage,
  { cast, dir }: Player,
  { screen, state, draft, file }: LabelledScreen,
): Promise<void> {
  const { lines, title, cursor: at, cursorHidden = false } = screen;
  await play(dir, { lines, title: title!, cursor: at!, cursorHidden });
  const cursor = [Math.min(screen.cursor!.x, screen.width! - 1), Math.min(screen.cursor!.y, screen.height! - 1)].join();
  const read = () => stage.tieline.statusMonitor.explain(cast.agent);
  await until(
    async () => {
      const told = await read();
      const there = told?.known?.title === screen.title && told?.known?.cursor.join() === cursor;
      return there && told?.state === state && told.draft === draft;
    },
    async () => `${file} to be read as ${state} in a pane; it is read as ${JSON.stringify(await read())}`,
  );
}
