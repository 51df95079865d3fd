import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync, existsSync } from "node:fs";
import { join } from "node:path";
import { describeUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser, type OtherUser } from "../../src/testing/otherUser.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

/** The files of a home, seen by another user of the machine. */
describeUnless(lackOfOtherUser())("another user and the files of a home", () => {
  let world: World;
  let other: OtherUser;
  beforeAll(async () => {
    world = await startWorld();
    // As in a directory that every user may enter: only the home itself keeps others out.
    chmodSync(world.dir, 0o755);
    other = createOtherUser();
    await world.json(["adopt", await world.pane(["cat"]), "--name", "ana", "--provider", "generic"]);
    expect(await world.tieline(["send", "ana", "for you only"])).toMatchObject({ code: 0 });
  });
  afterAll(async () => {
    await other[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });

  test("runs as itself", async () => {
    expect((await other.run(["id", "-u"])).stdout.trim()).toBe(String(other.uid));
  });

  describe("cannot read", () => {
    test.each(["mailbox.db", "mailbox.db-wal", "events.db", "user.token", "port", "daemon.log"])("%s", async (name) => {
      const path = join(world.env["TIELINE_HOME"]!, name);
      expect(existsSync(path)).toBe(true);
      const { code, stdout, stderr } = await other.run(["cat", path]);
      expect({ code, stdout, stderr }).toEqual({ code: 1, stdout: "", stderr: `cat: ${path}: Permission denied\n` });
    });
  });
});
