import { join } from "node:path";
import { TmuxServer } from "../tmux/server.ts";
import { rawSinkPath, sinkBytes } from "./rawSink.ts";
import type { SimulatedProgram } from "./simulation/program.ts";
import { simulatedExec } from "./simulation/tmux/exec.ts";
import { SimulatedTmux } from "./simulation/tmux/server.ts";
import { attachUser, privateTmux } from "./tmux.ts";
import { tmuxContract } from "./tmuxContract.ts";

tmuxContract("tmux", async () => {
  const tmux = await privateTmux();
  const file = join(tmux.dir, "typed");
  await tmux.tmux("respawn-pane", "-k", "-t", "%0", process.execPath, rawSinkPath, file);
  await sinkBytes(file, () => true);
  const opened = new AsyncDisposableStack();
  opened.use(tmux);
  const server = opened.use(new TmuxServer(tmux));
  return {
    server,
    pane: "%0",
    received: async (enough) => (await sinkBytes(file, (bytes) => enough(bytes.toString()))).toString(),
    command: (...argv) => tmux.tmux(...argv),
    async attach() {
      const user = opened.use(await attachUser(tmux, "main"));
      return { press: (key) => user.press(key) };
    },
    async restart() {
      await tmux.kill();
      await tmux.tmux("new-session", "-d", "-s", "main", "cat");
    },
    kill: () => tmux.kill(),
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
});

/** Keeps every byte that it reads, as the real one of `rawSink.ts`. */
class RawSink implements SimulatedProgram {
  readonly command = "bun";
  readonly title = "";
  readonly bracketedPaste = true;
  readonly alternateScreen = false;
  bytes = "";

  screen = () => ({ rows: ["ready"], cursor: { x: 0, y: 1 } });
  paste(text: string, bracketed: boolean): void {
    this.bytes += bracketed ? `\x1b[200~${text}\x1b[201~` : text;
  }
  key(name: string): void {
    this.bytes += name === "Enter" ? "\r" : name;
  }
  type(text: string): void {
    this.bytes += text;
  }
}

tmuxContract("simulated tmux", async () => {
  let lastPid = 100;
  const begin = (): SimulatedTmux =>
    new SimulatedTmux({
      pid: ++lastPid,
      now: () => 1_800_000_000_000,
      socketPath: "/tmux",
      nextPid: () => ++lastPid,
      launch: () => new RawSink(),
    });
  const sink = new RawSink();
  let tmux = begin();
  const { id } = tmux.addSession("main", sink);
  const server = new TmuxServer({ socketPath: "/tmux", exec: simulatedExec(() => tmux), mayAttach: () => false });
  return {
    server,
    pane: id,
    async received(enough) {
      if (!enough(sink.bytes)) throw new Error(`not enough bytes: ${JSON.stringify(sink.bytes)}`);
      return sink.bytes;
    },
    command: async (...argv) => tmux.run(argv.join(" ")),
    async attach() {
      const client = tmux.attach(id);
      return { press: async (key) => tmux.pressKey(client, key) };
    },
    async restart() {
      tmux.alive = false;
      tmux = begin();
      tmux.addSession("main", new RawSink());
    },
    async kill() {
      tmux.alive = false;
    },
    [Symbol.asyncDispose]: () => server.close(),
  };
});
