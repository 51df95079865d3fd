/** Other users of the machine and the mail in a workspace. */
import { expect, test } from "bun:test";
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { watchOutbox } from "../../src/intake/outbox/watch.ts";
import { describeUnless } from "../../src/testing/needing.ts";
import { createOtherUser, lackOfOtherUser } from "../../src/testing/otherUser.ts";
import { openWorkspaceInbox } from "../../src/delivery/transports/workspaceInbox/write.ts";

const message = (n: number) => ({
  from: "bob",
  author: "agent" as const,
  content: `secret ${n}`,
  id: `id-${n}`,
  tag: `MSG_BOB_${n}`,
  sentAt: 0,
});
const modeOf = (path: string): number => statSync(path).mode & 0o777;

async function deliver(workspace: string, ...numbers: number[]): Promise<void> {
  const inbox = openWorkspaceInbox(workspace);
  for (const n of numbers) await inbox.write(message(n));
  await inbox.writeAgents(["bob"]);
  await inbox.close();
}

function openWorkspaceOf(uid: number): { readonly path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), "tl-mail-"));
  chownSync(path, uid, uid);
  chmodSync(path, 0o755);
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

describeUnless(lackOfOtherUser())("mail in a workspace that every user can enter", () => {
  test("is not readable by another user, also where an earlier start left the directory open", async () => {
    await using other = createOtherUser();
    using workspace = openWorkspaceOf(process.getuid!());
    const inbox = join(workspace.path, ".inbox");
    mkdirSync(inbox);
    chmodSync(inbox, 0o755);
    writeFileSync(join(inbox, "0001_bob.json"), "an old secret\n", { mode: 0o644 });
    expect((await other.run(["cat", join(inbox, "0001_bob.json")])).stdout).toBe("an old secret\n");
    await deliver(workspace.path, 2);
    expect(modeOf(inbox)).toBe(0o700);
    for (const name of ["0002_bob.json", ".seq", ".agents"])
      expect([name, modeOf(join(inbox, name))]).toEqual([name, 0o600]);
    expect((await other.run(["ls", inbox])).code).not.toBe(0);
    for (const name of readdirSync(inbox))
      expect(await other.run(["cat", join(inbox, name)])).toMatchObject({ stdout: "" });
  });

  test("an outbox and what is put aside there are not readable either", async () => {
    await using other = createOtherUser();
    using workspace = openWorkspaceOf(process.getuid!());
    const outbox = join(workspace.path, ".outbox");
    mkdirSync(outbox);
    chmodSync(outbox, 0o755);
    writeFileSync(join(outbox, "0001.json"), `{"no": "recipient"}`);
    const rejected = Promise.withResolvers<string>();
    const stop = new AbortController();
    const watching = watchOutbox({
      workspace: workspace.path,
      signal: stop.signal,
      accept: async () => undefined,
      onRejected: ({ name }) => rejected.resolve(name),
      onFault: rejected.reject,
    });
    const reason = join(outbox, ".rejected", `${await rejected.promise}.reason.txt`);
    stop.abort();
    await watching;
    expect([outbox, join(outbox, ".taken"), join(outbox, ".rejected")].map(modeOf)).toEqual([0o700, 0o700, 0o700]);
    expect(modeOf(reason)).toBe(0o600);
    expect((await other.run(["cat", reason])).stdout).toBe("");
  });

  test("is readable by the user who owns the workspace, and by no third user", async () => {
    await using owner = createOtherUser();
    await using third = createOtherUser();
    using workspace = openWorkspaceOf(owner.uid);
    const file = join(workspace.path, ".inbox", "0001_bob.json");
    await deliver(workspace.path, 1);
    expect((await owner.run(["cat", file])).stdout).toContain("secret 1");
    expect((await third.run(["cat", file])).stdout).toBe("");
    // What was given away is still known as written.
    const inbox = openWorkspaceInbox(workspace.path);
    expect([inbox.wrote("id-1"), inbox.wrote("id-2")]).toEqual([true, false]);
    expect((await inbox.write(message(2))).seq).toBe(2);
    await inbox.close();
    expect((await owner.run(["rm", file])).code).toBe(0);
  });

  test("a directory of ours that the owner renamed to .inbox is not given away", async () => {
    await using owner = createOtherUser();
    using workspace = openWorkspaceOf(owner.uid);
    const [inbox, ours] = [join(workspace.path, ".inbox"), join(workspace.path, "ours")];
    mkdirSync(ours, { mode: 0o700 });
    writeFileSync(join(ours, "key"), "ours\n", { mode: 0o644 });
    expect((await owner.run(["mv", ours, inbox])).code).toBe(0);
    await deliver(workspace.path, 1);
    expect([statSync(inbox).uid, modeOf(inbox)]).toEqual([process.getuid!(), 0o700]);
    expect((await owner.run(["cat", join(inbox, "key")])).stdout).toBe("");
  });
});
