import { expect, test } from "bun:test";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { startWorld, until } from "../src/testing/world.ts";

test("a member of a Claude Code team is written to by name, and what it writes to the person arrives once", async () => {
  await using world = await startWorld();
  const team = join(world.dir, ".claude", "teams", "crew");
  mkdirSync(join(team, "inboxes"), { recursive: true });
  writeFileSync(join(team, "config.json"), JSON.stringify({ name: "crew", members: [{ agentId: "scout@crew", name: "scout", agentType: "explorer" }] }));
  const row = { from: "scout", text: "found it", timestamp: "2026-11-15T10:00:00.000Z", read: false, summary: "found" };
  writeFileSync(join(team, "inboxes", "user.json"), JSON.stringify([row]));

  const { tag } = await world.json<{ tag: string }>(["send", "--wait", "handed", "scout", "look in the cellar"]);
  const [written] = JSON.parse(readFileSync(join(team, "inboxes", "scout.json"), "utf8")) as Record<string, unknown>[];
  expect(written).toMatchObject({ from: "user", read: false, summary: "look in the cellar", text: expect.stringContaining(`[${tag} from user]\nlook in the cellar\n`) });
  expect((await world.status(tag)).deliveries[0]).toMatchObject({ proof: "written", transport: "claude-inbox", authority: "peer" });

  const inbox = () => world.json<{ from: string; body: string }[]>(["inbox", "--peek"]);
  await until(async () => (await inbox()).length > 0, "the member's message");
  await world.killDaemon();
  expect((await inbox()).map(({ from, body }) => [from, body])).toEqual([["scout", "found it"]]);
  expect(JSON.parse(readFileSync(join(team, "inboxes", "user.json"), "utf8"))).toEqual([{ ...row, read: true }]);

  const unknown = await world.tieline(["send", "scuot", "x"]);
  expect(unknown.code).toBe(3);
  expect(unknown.stderr).toContain("scout");
});
