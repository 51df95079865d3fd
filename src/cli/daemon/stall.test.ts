import { afterAll, afterEach, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { homeOf } from "../../client/home.ts";
import { systemProcesses } from "../../os/processes.ts";
import { untilStalled } from "./stall.ts";

const directory = mkdtempSync(join(tmpdir(), "tl-stall-"));
const home = homeOf({ TIELINE_HOME: directory });
const open: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of open.splice(0)) await close();
  rmSync(home.pidFile, { force: true });
});

afterAll(() => rmSync(directory, { recursive: true, force: true }));

async function daemonIs(pid: number): Promise<void> {
  writeFileSync(home.pidFile, `${pid} ${(await systemProcesses().read(pid))!.startMark}\n`);
}

/** Takes every connection and says nothing. */
async function deafDaemon(): Promise<void> {
  const sockets = new Set<{ destroy(): void }>();
  const server = createServer((socket) => void sockets.add(socket));
  await new Promise<void>((resolve) => server.listen(home.socket, resolve));
  open.push(async () => {
    sockets.forEach((socket) => socket.destroy());
    server.close();
  });
}

function answeringDaemon(): void {
  const server = Bun.serve({ unix: home.socket, fetch: () => new Response("no", { status: 400 }) });
  open.push(() => server.stop(true));
}

test("a daemon that answers is waited for until the operation is over its time", async () => {
  answeringDaemon();
  const error = await untilStalled(home, 50, new AbortController().signal, "ls");
  expect(error).toMatchObject({ code: "NOT_IN_TIME", operands: { operation: "ls", deadlineMs: 50 } });
});

test("a daemon that is stopped is named at once", async () => {
  await deafDaemon();
  const child = Bun.spawn(["sleep", "1000"]);
  open.push(async () => child.kill("SIGKILL"));
  await daemonIs(child.pid);
  child.kill("SIGSTOP");
  const error = await untilStalled(home, 60_000, new AbortController().signal, "ls");
  expect(error).toMatchObject({
    code: "DAEMON_UNAVAILABLE",
    message: `the daemon (pid ${child.pid}) is stopped and cannot answer`,
    operands: { pid: child.pid, cause: "stopped" },
  });
});

test("a daemon that runs and says nothing for long hangs", async () => {
  await deafDaemon();
  await daemonIs(process.pid);
  const error = await untilStalled(home, 60_000, new AbortController().signal, "ls");
  expect(error).toMatchObject({
    code: "DAEMON_UNAVAILABLE",
    message: `the daemon (pid ${process.pid}) has not answered anything for 8 s`,
    remedy: expect.stringContaining(`kill -9 ${process.pid}`),
  });
});

test("a pid that belongs to another process by now is not named", async () => {
  await deafDaemon();
  writeFileSync(home.pidFile, `${process.pid} another-start\n`);
  const error = await untilStalled(home, 60_000, new AbortController().signal, "ls");
  expect(error).toMatchObject({ message: "the daemon has not answered anything for 8 s", operands: { pid: null } });
});

test("ends with its call", async () => {
  answeringDaemon();
  const over = new AbortController();
  const stalled = untilStalled(home, 60_000, over.signal, "ls").then(() => "stalled");
  over.abort();
  expect(await Promise.race([stalled, Bun.sleep(50).then(() => "pending")])).toBe("pending");
});
