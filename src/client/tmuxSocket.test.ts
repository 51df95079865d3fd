import { expect, test } from "bun:test";
import { tmuxServerOf, tmuxSocketNamed } from "./tmuxSocket.ts";

test("a name is where tmux -L puts it, a path stays a path", () => {
  expect(tmuxSocketNamed("work", {}, 1000)).toBe("/tmp/tmux-1000/work");
  expect(tmuxSocketNamed("work", { TMUX_TMPDIR: "/run" }, 0)).toBe("/run/tmux-0/work");
  expect(tmuxSocketNamed("/run/my.sock", {}, 0)).toBe("/run/my.sock");
});

test("a caller means the server it names, then the one it sits in, then the default one", () => {
  const inside = { TMUX: "/tmp/tmux-0/mine,123,0", TMUX_TMPDIR: "/t" };
  expect(tmuxServerOf({ ...inside, TIELINE_TMUX_SOCKET: "/named" })).toBe("/named");
  expect(tmuxServerOf(inside)).toBe("/tmp/tmux-0/mine");
  expect(tmuxServerOf({ TMUX_TMPDIR: "/t" })).toEndWith("/default");
});
