import { expect, test } from "bun:test";
import { join } from "node:path";
import { rawSinkPath, sinkBytes } from "../testing/rawSink.ts";
import { privateTmux } from "../testing/tmux.ts";
import { bunExec } from "./exec.ts";
import { readPane } from "../tmux/pane.ts";
import { TmuxServer } from "../tmux/server.ts";
import { newWindow } from "../tmux/session.ts";
import { ttyModes } from "./tty.ts";

const refusing = (): never => {
  throw new Error("no process should be needed");
};
/** A platform whose termios we do not know has only stty; here that is Linux's own. */
const byStty = ttyModes("freebsd", (argv, options) =>
  bunExec(
    argv.map((word) => (word === "-f" ? "-F" : word)),
    options,
  ),
);

test.each([
  ["the C library", ttyModes(process.platform, refusing)],
  ["stty", byStty],
])("%s tells a terminal that edits lines from one that does not", async (_, ttyMode) => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  expect(await ttyMode((await readPane(server, "%0")).tty)).toBe("canonical");
  const file = join(tmux.dir, "sink");
  const { pane } = await newWindow(server, {
    session: "main",
    name: "w",
    command: [process.execPath, rawSinkPath, file],
  });
  await sinkBytes(file, () => true);
  expect(await ttyMode((await readPane(server, pane)).tty)).toBe("raw");
});

test("what is no terminal is unknown", async () => {
  expect(await ttyModes()("/dev/null")).toBe("unknown");
  expect(await ttyModes()("/nonexistent")).toBe("unknown");
});
