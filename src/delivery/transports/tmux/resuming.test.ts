import { expect, test } from "bun:test";
import { labelledScreens } from "../../../testing/screens.ts";
import { privateTmux } from "../../../testing/tmux.ts";
import { snapshotPane } from "../../../tmux/pane.ts";
import { systemProcesses } from "../../../os/processes.ts";
import { TmuxServer } from "../../../tmux/server.ts";
import { newWindow } from "../../../tmux/session.ts";
import { Ages } from "../../../os/ages.ts";
import { interpretSnapshot } from "./paneStatus.ts";
import { providers } from "../../../compose/providers.ts";

test("a program that resumes a conversation is not ready before that shows, for a minute at most", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const { pane } = await newWindow(server, { session: "main", name: "agent", command: ["cat"] });
  const { screen } = labelledScreens().find(({ file }) => file === "gemini/idle-fresh.ansi.txt")!;
  const seen = await snapshotPane(server, pane);
  const shown = {
    ...seen,
    styled: screen.lines,
    pane: { ...seen.pane, title: screen.title!, cursor: screen.cursor!, height: screen.height! },
  };
  const processes = systemProcesses();
  const { pid, serverPid, serverStartedAt } = seen.pane;
  const { startMark } = (await processes.read(pid))!;
  const since = 1_000;
  const locator = {
    socket: tmux.socketPath,
    serverPid,
    serverStartedAt,
    pane,
    panePid: pid,
    agentPid: pid,
    agentStartMark: startMark,
    since,
    terminal: {},
  };
  const state = async (resumes: boolean, now: number) => {
    const status = await interpretSnapshot(
      processes,
      { providers, locator: { ...locator, resumes }, manifest: providers.screen("gemini"), traits: { mayAct: false } },
      shown,
      new Ages(() => now),
    );
    return status.kind === "live" ? status.reading.state : status.detail;
  };
  expect(await state(false, since)).toBe("idle");
  expect(await state(true, since + 59_999)).toBe("unknown");
  expect(await state(true, since + 60_000)).toBe("idle");
});
