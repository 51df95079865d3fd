import { describe, expect, test } from "bun:test";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { sinkBytes } from "../testing/rawSink.ts";
import { privateTmux } from "../testing/tmux.ts";
import { until } from "../testing/until.ts";
import { Lineages, descendants, foreground, isSameProcess, systemProcesses, type ProcessFacts } from "./processes.ts";
import { TmuxServer } from "../tmux/server.ts";
import { newWindow } from "../tmux/session.ts";

const own = systemProcesses();
const byPs = systemProcesses({ platform: "darwin" });

test("a process is known by pid and start, the same by every source", async () => {
  const self = await own.read(process.pid);
  if (!self) throw new Error("not found");
  expect(self.ppid).toBe(process.ppid);
  expect(await isSameProcess(own, self)).toBe(true);
  expect(await isSameProcess(own, { pid: self.pid, startMark: "1" })).toBe(false);
  const listed = await byPs.read(process.pid);
  expect(listed).toMatchObject({
    ppid: self.ppid,
    processGroup: self.processGroup,
    foregroundGroup: self.foregroundGroup,
  });
  expect((await byPs.read(process.pid))?.startMark).toBe(listed?.startMark ?? "");
  expect((await own.argv(process.pid)).join(" ")).toContain("test");
  expect((await byPs.argv(process.pid)).join(" ")).toContain("test");
  expect((await new Lineages(own).of(process.pid)).slice(0, 2).map(({ pid }) => pid)).toEqual([
    process.pid,
    process.ppid,
  ]);
});

test("a process that ended is gone, also while it waits to be reaped", async () => {
  await using tmux = await privateTmux({ session: null });
  const root = tmux.dir;
  await writeStat(root, 7, "7 (a) b) Z 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 900 0");
  await writeStat(root, 8, "8 (tmux: server (x)) S 1 8 8 34816 9 0 0 0 0 0 0 0 0 0 20 0 1 0 901 0");
  const processes = systemProcesses({ platform: "linux", procRoot: root });
  expect(await processes.read(7)).toBeUndefined();
  expect(await processes.read(99)).toBeUndefined();
  expect(await processes.all()).toEqual([
    {
      pid: 8,
      ppid: 1,
      processGroup: 8,
      foregroundGroup: 9,
      startMark: "901",
      command: "tmux: server (x)",
      computing: false,
    },
  ]);
});

test("the foreground program of a pane, and what runs below it", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const ready = join(tmux.dir, "ready");
  const script = 'set -m; sh -c \'sleep 300 & : > "$0"; exec cat\' "$0"; exit';
  const { panePid } = await newWindow(server, { session: "main", name: "w", command: ["sh", "-c", script, ready] });
  await sinkBytes(ready, () => true);
  const starting = async () => (await descendants(own, panePid)).some(({ command }) => command === "sh");
  await until(async () => !(await starting()), "cat to take the shell's place");
  for (const processes of [own, byPs]) {
    expect(await foreground(processes, panePid)).toMatchObject({ command: "cat", ppid: panePid });
    const below = await descendants(processes, panePid);
    expect(below.map(({ command }) => command)).toEqual(["cat", "sleep"]);
  }
  expect(await foreground(own, 2 ** 22 + 1)).toBeUndefined();
});

async function writeStat(root: string, pid: number, stat: string): Promise<void> {
  await mkdir(join(root, String(pid)), { recursive: true });
  await writeFile(join(root, String(pid), "stat"), stat);
}

describe("lineages", () => {
  const fact = (pid: number, ppid: number, startMark = `${pid}`): ProcessFacts => ({
    pid,
    ppid,
    startMark,
    processGroup: pid,
    foregroundGroup: pid,
    command: "sh",
    computing: false,
  });

  function family(...members: ProcessFacts[]) {
    const alive = new Map(members.map((member) => [member.pid, member]));
    const reads: number[] = [];
    const lineages = new Lineages({ read: async (pid) => (reads.push(pid), alive.get(pid)) }, 3);
    const pidsOf = async (pid: number): Promise<string[]> =>
      (await lineages.of(pid)).map(({ pid, startMark }) => `${pid}/${startMark}`);
    return { alive, reads, pidsOf };
  }

  test("a second child of a known parent costs two reads, however deep it is", async () => {
    const { reads, alive, pidsOf } = family(fact(2, 1), fact(3, 2), fact(4, 3));
    expect(await pidsOf(4)).toEqual(["4/4", "3/3", "2/2"]);
    alive.set(5, fact(5, 3));
    reads.length = 0;
    expect(await pidsOf(5)).toEqual(["5/5", "3/3", "2/2"]);
    expect(reads).toEqual([5, 3]);
  });

  test("a pid that another process has now is read again", async () => {
    const { alive, pidsOf } = family(fact(2, 1), fact(3, 2), fact(6, 1));
    await pidsOf(3);
    alive.set(3, fact(3, 6, "later"));
    expect(await pidsOf(3)).toEqual(["3/later", "6/6"]);
    alive.delete(3);
    expect(await pidsOf(3)).toEqual([]);
  });

  test("what is remembered has a limit", async () => {
    const { reads, pidsOf } = family(...[2, 3, 4, 5, 6].map((pid) => fact(pid, 0)));
    for (const pid of [2, 3, 4, 5, 6]) await pidsOf(pid);
    reads.length = 0;
    expect(await pidsOf(2)).toEqual(["2/2"]);
    expect(reads).toEqual([2, 0]);
  });
});
