/**
 * Where root alone could have written them, Gemini CLI takes settings that a variable names: there its hooks are given
 * at its start.
 */
import { expect } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { freshHas, freshTexts } from "../../fixtures/model-servers/server.ts";
import { readsDefaults } from "../../src/providers/gemini/defaults.ts";
import { lackUnless } from "../../src/testing/needing.ts";
import { inPausedTool } from "./pausedTool.ts";
import { programTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";

const cache = process.env["XDG_CACHE_HOME"];
/** In a longer path the sockets of a home, beside which the settings stand, would be in /tmp. */
const shortEnough = 17;
const where = cache === undefined || cache.length > shortEnough || !readsDefaults(join(cache, "any")) ? null : cache;

/** Runs with a temporary directory that only root can write. */
async function inFolderOfRoot(folder: string, run: () => Promise<void>): Promise<void> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const own = mkdtempSync(join(folder, "t-"));
  const before = process.env["TMPDIR"];
  process.env["TMPDIR"] = own;
  try {
    await run();
  } finally {
    if (before === undefined) delete process.env["TMPDIR"];
    else process.env["TMPDIR"] = before;
    rmSync(own, { recursive: true, force: true });
  }
}

const run = await programTest(
  "gemini",
  lackUnless(
    where !== null,
    "Gemini CLI reads hooks given at its start only from folders that are root's alone, and there is none " +
      "with a short path here",
  ),
);
run(
  "started by Tieline, with nothing in the user's settings: mail comes with a tool's result, and its record proves it",
  () =>
    inFolderOfRoot(where!, async () => {
      await using board = await Switchboard.start();
      await using bench = await board.spawned("gemini", { permissions: "allow" });
      const tool = await inPausedTool(bench);
      const tag = await board.send("ana", "--when", "tool", "look at this");
      await tool.release();
      const request = await bench.model.next((one) => freshHas(one, tag));
      expect(freshTexts(request, "tool")[0]).toEndWith("</hook_context>");
      const history = await board.reached(tag, ({ state }) => state === "seen");
      expect(history.deliveries[0]).toMatchObject({ transport: "hook", authority: "peer", proof: "transcript" });
      expect(await Bun.file(join(bench.place.home, ".gemini", "settings.json")).text()).not.toContain("tieline");
      expect(existsSync(join(bench.place.project, ".gemini"))).toBe(false);
      board.note("hooks given at the start", "tool", history);
    }),
);
