import { expect, test } from "bun:test";
import { lackOfLinux, testUnless } from "../testing/needing.ts";
import { privateTmux } from "../testing/tmux.ts";
import { until, untilGone } from "../testing/until.ts";
import { bunExec } from "../os/exec.ts";
import { findLeash } from "./leash.ts";
import { descendants, systemProcesses, type ProcessFacts } from "../os/processes.ts";
import { TmuxServer } from "./server.ts";

const onLinux = testUnless(lackOfLinux);

onLinux("a control client ends with a process that is killed, while tmux cannot even notice", async () => {
  await using tmux = await privateTmux();
  const program = `
    import { TmuxServer } from ${JSON.stringify(new URL("server.ts", import.meta.url).pathname)};
    const server = new TmuxServer({ socketPath: ${JSON.stringify(tmux.socketPath)} });
    await server.run("display-message -p here");
    console.log("attached");
    setInterval(() => undefined, 1_000);
  `;
  const owner = Bun.spawn([process.execPath, "-e", program], { env: tmux.env, stdout: "pipe" });
  await owner.stdout.getReader().read();
  const [client] = await clientsOf(owner.pid);
  const server = Number(await tmux.tmux("display-message", "-p", "#{pid}"));
  expect(client!.command).toStartWith("tmux");
  process.kill(server, "SIGSTOP");
  try {
    process.kill(owner.pid, "SIGKILL");
    await untilGone(client!.pid);
  } finally {
    process.kill(server, "SIGCONT");
  }
  await owner.exited;
});

onLinux("a process that was orphaned before the leash was on does not begin", async () => {
  const leash = await findLeash(bunExec);
  expect(leash.at(-1)).toBe(String(process.pid));
  const tied = await bunExec([...leash, "echo", "a", "b  c"]);
  expect(tied).toMatchObject({ code: 0, stdout: "a b  c\n" });
  const orphaned = await bunExec([...leash.slice(0, -1), "1", "echo", "never"]);
  expect(orphaned).toMatchObject({ code: 1, stdout: "" });
});

test("without the means for it, tmux is started as it is", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer({
    ...tmux,
    exec: (argv, options) => bunExec(argv[0] === "setpriv" ? ["no-such-program"] : argv, options),
  });
  expect(await server.run("display-message -p here")).toEqual(["here"]);
  expect(await findLeash(bunExec, undefined, "darwin")).toEqual([]);
});

/** The clients that a process has, once they are clients. */
async function clientsOf(pid: number): Promise<ProcessFacts[]> {
  let found: ProcessFacts[] = [];
  await until(async () => {
    found = (await descendants(systemProcesses(), pid)).filter(({ command }) => command.startsWith("tmux"));
    return found.length > 0;
  }, "the control client");
  return found;
}
