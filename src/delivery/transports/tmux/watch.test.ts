import { expect, test } from "bun:test";
import { privateTmux } from "../../../testing/tmux.ts";
import { TmuxServer } from "../../../tmux/server.ts";
import { PaneWatch } from "./watch.ts";

test("a pane that ended before it could be watched is worth another look, once", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const faults: string[] = [];
  const watches = new PaneWatch((context) => faults.push(context));
  const { promise: told, resolve: tell } = Promise.withResolvers<void>();
  let times = 0;
  using _watch = watches.watch(server, "%99", () => {
    times++;
    tell();
  });
  await told;
  await watches.close();
  expect({ times, faults }).toEqual({ times: 1, faults: [] });
});

test("a former watcher gets nothing", async () => {
  await using tmux = await privateTmux();
  await using server = new TmuxServer(tmux);
  const watches = new PaneWatch(() => undefined);
  const told: string[] = [];
  watches.watch(server, "%99", () => told.push("the one who left"))[Symbol.dispose]();
  const { promise: last, resolve } = Promise.withResolvers<void>();
  using _watch = watches.watch(server, "%99", resolve);
  await last;
  await watches.close();
  expect(told).toEqual([]);
});
