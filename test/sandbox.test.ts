import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { keeping } from "../src/testing/keeping.ts";
import { describeUnless, lackOfBubblewrap } from "../src/testing/needing.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const keep = keeping();

const aWorld = async (files: Record<string, string> = {}): Promise<World> => keep(await startWorld({ files }));

/**
 * Real programs under real bubblewrap. Where the machine has none, or does not allow it, there is nothing to prove here
 * but that the agent is not started; that is in src/life/sandbox.test.ts.
 */
describeUnless(lackOfBubblewrap())("under bubblewrap", () => {
  test("the pair of examples/sandboxed talk to each other through files only", async () => {
    const world = await aWorld();
    cpSync(join(import.meta.dir, "../examples/sandboxed"), world.project, { recursive: true });
    await world.trust();
    expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
    await until(async () => (await world.inbox("user")).length > 0, "the answer for the user");
    expect(await world.inbox("user")).toMatchObject([{ from: "asker", body: "the answerer says: forty-two" }]);
    const log = await world.json<
      { from: string; to: string; knownBy: string; deliveries: { transport: string | null }[] }[]
    >(["log"]);
    const between = log.filter(({ to }) => to !== "user");
    expect(
      between.map(({ from, knownBy, deliveries }) => [from, knownBy, deliveries.map(({ transport }) => transport)]),
    ).toEqual([
      ["asker", "workspace", ["workspace-inbox"]],
      ["answerer", "workspace", ["workspace-inbox"]],
    ]);
  });

  test("it cannot read the token, reach the socket, write another's outbox or escape by a link", async () => {
    const world = await aWorld({
      "tieline.yaml": `team: walls
agents:
  prisoner:
    command: [sh, escape.sh]
    workspace: cells/prisoner
    sandbox: bwrap
    input: files
    logs: cells/prisoner/logs/*.txt
    env: { ALLOWED: "yes" }
  neighbour: { command: [sleep, "1000000"], workspace: cells/neighbour, input: files }
`,
    });
    const home = world.env["TIELINE_HOME"]!;
    const neighbour = join(world.project, "cells/neighbour");
    const prisoner = join(world.project, "cells/prisoner");
    const elsewhere = join(world.dir, "elsewhere");
    for (const directory of [join(neighbour, ".outbox"), prisoner, elsewhere])
      mkdirSync(directory, { recursive: true });
    writeFileSync(join(elsewhere, "log.txt"), "");
    writeFileSync(
      join(prisoner, "escape.sh"),
      `try() {
  name=$1; shift
  if sh -c "$*" >/tmp/out 2>&1; then echo "$name: $(cat /tmp/out)" >>results; else echo "$name: refused" >>results; fi
}
mkdir -p .outbox logs
try token 'cat ${home}/user.token'
try home 'ls ${home}'
try mailbox 'cat ${home}/mailbox.db'
try socket 'test -S ${home}/daemon.sock'
try neighbour 'echo "{\\"to\\":\\"user\\",\\"content\\":\\"forged\\"}" >${neighbour}/.outbox/0001_user.json'
try project 'cat ${world.project}/tieline.yaml'
try system 'touch /usr/bin/mine || touch /etc/mine'
try environment 'env | grep -E "^TIELINE_(TOKEN|HOME)=|^TMUX"'
try parents 'cat /proc/*/environ | tr "\\0" "\\n" | grep TIELINE_TOKEN='
try processes 'test "$(ls -d /proc/[0-9]* | wc -l)" -gt 12'
try allowed 'test "$ALLOWED" = yes && echo yes'
# Links that the switch would have to follow from outside.
ln -s ${home}/user.token .outbox/0001_user.json
ln -s ${neighbour}/.outbox stolen
ln -s ${elsewhere}/log.txt logs/out.txt
mkdir .outbox/0002_user.json
printf '{"to":"user","content":"honest"}' >.outbox/.draft && mv .outbox/.draft .outbox/0003_user.json
echo done >finished
exec sleep 1000000
`,
    );
    expect(await world.tieline(["up"])).toMatchObject({ code: 0 });
    await until(() => existsSync(join(prisoner, "finished")), "the attempts to end");
    const refused = [
      "token",
      "home",
      "mailbox",
      "socket",
      "neighbour",
      "project",
      "system",
      "environment",
      "parents",
      "processes",
    ];
    expect(readFileSync(join(prisoner, "results"), "utf8").trim().split("\n")).toEqual([
      ...refused.map((name) => `${name}: refused`),
      "allowed: yes",
    ]);

    await until(async () => (await world.inbox("user")).length > 0, "the honest message");
    expect(await world.inbox("user")).toMatchObject([{ from: "prisoner", body: "honest" }]);
    expect(readdirSync(join(neighbour, ".outbox")).filter((name) => name.endsWith(".json"))).toEqual([]);
    const reasons = readdirSync(join(prisoner, ".outbox/.rejected")).filter((name) => name.endsWith(".reason.txt"));
    expect(reasons.map((name) => readFileSync(join(prisoner, ".outbox/.rejected", name), "utf8")).join()).toContain(
      "links are not followed here",
    );
    await until(() => inboxOf(prisoner).length >= 2, "the news about both rejected files");
    expect(inboxOf(prisoner).map(({ from }) => from)).toEqual(["tieline", "tieline"]);

    // A log that leads out of its directory is not read, and a directory that became a link leads nowhere.
    writeFileSync(
      join(elsewhere, "log.txt"),
      "[2026-01-31 09:00:00] RES: @user: smuggled\n[2026-01-31 09:00:01] RES: x\n",
    );
    writeFileSync(
      join(prisoner, "logs/own.txt"),
      "[2026-01-31 09:00:00] RES: @user: from the log\n[2026-01-31 09:00:01] RES: x\n",
    );
    await until(async () => (await world.inbox("user")).length > 1, "the logged message");
    expect((await world.inbox("user")).map(({ body }) => body).toSorted()).toEqual(["from the log", "honest"]);
  });

  test("a sandbox that cannot be made is SPAWN_FAILED, and nothing runs", async () => {
    const world = await aWorld({
      "tieline.yaml": `team: walls\nagents:\n  bare: { command: [sh, -c, "touch ran; sleep 1000"], sandbox: bwrap }\n`,
    });
    const { code, stderr } = await world.tieline(["up"]);
    expect([code, stderr]).toEqual([4, expect.stringContaining("error SPAWN_FAILED: bare cannot be sandboxed")]);
    expect(existsSync(join(world.project, "ran"))).toBe(false);
  });
});

function inboxOf(workspace: string): { from: string; content: string }[] {
  const directory = join(workspace, ".inbox");
  const names = existsSync(directory)
    ? readdirSync(directory)
        .filter((name) => /^\d.*\.json$/.test(name))
        .sort()
    : [];
  return names.map(
    (name) => JSON.parse(readFileSync(join(directory, name), "utf8")) as { from: string; content: string },
  );
}
