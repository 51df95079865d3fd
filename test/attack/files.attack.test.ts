import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
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
    await world.tieline(["send", "user", "for my eyes only"]);
  });
  afterAll(async () => {
    other[Symbol.dispose]();
    await world[Symbol.asyncDispose]();
  });

  test("runs as itself", async () => {
    expect((await other.run(["id", "-u"])).stdout.trim()).toBe(String(other.uid));
  });

  describe("cannot read", () => {
    test.each(["mailbox.db", "mailbox.db-wal", "events.db", "user.token", "port", "daemon.log"])("%s", async (name) => {
      const { code, stdout } = await other.run(["cat", join(world.env["TIELINE_HOME"]!, name)]);
      expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    });
  });
});
