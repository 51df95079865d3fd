import { expect, test } from "bun:test";
import type { TransportRank } from "../delivery/transports/port.ts";
import { openStage } from "../testing/stage.ts";

test("transports rank as docs/providers.md says: by moment for the user, as a peer first for agents", async () => {
  await using stage = await openStage();
  const by = (rank: keyof TransportRank): string[] =>
    [...stage.composition.delivery.transports.values()]
      .filter(({ traits }) => traits.rank[rank] < 100 && !traits.combined)
      .toSorted((a, b) => a.traits.rank[rank] - b.traits.rank[rank])
      .map(({ name }) => name);
  const servers = ["stream-json", "codex-server", "opencode-server", "pi-extension"];
  expect(by("atTurnEnd")).toEqual([...servers, "codex-queue", "tmux", "claude-socket", "hook"]);
  expect(by("inTurn")).toEqual([...servers, "claude-socket", "hook", "codex-queue", "tmux"]);
  expect(by("fromAgent")).toEqual([
    ...["codex-server", "pi-extension", "claude-socket", "hook", "claude-inbox"],
    ...["stream-json", "opencode-server", "codex-queue", "tmux"],
  ]);
});
