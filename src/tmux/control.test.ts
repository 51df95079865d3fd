import { expect, test } from "bun:test";
import { join } from "node:path";
import { privateTmux } from "../testing/tmux.ts";
import { ControlClient } from "./control.ts";
import type { Notification } from "./notification.ts";

test("a list answers with one block per command, errors included", async () => {
  await using server = await privateTmux();
  await using client = await ControlClient.attach({ ...server, session: "main" });
  expect(await client.command("display-message -p a ; display-message -p b")).toEqual(["a", "b"]);
  expect(await client.blocks("display-message -p a ; kill-pane -t %99 ; display-message -p c")).toEqual([
    { ok: true, lines: ["a"] },
    { ok: false, lines: ["can't find pane: %99"] },
  ]);
  expect(await client.command("if -F 1 { display-message -p yes } { display-message -p no }")).toEqual(["yes"]);
  await expect(client.command("kill-pane -t %99")).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await expect(client.command("no-such-command")).rejects.toMatchObject({ code: "INTERNAL" });
  await expect(client.command("")).rejects.toMatchObject({ code: "INTERNAL" });
  await expect(client.command("display-message x\nkill-server")).rejects.toMatchObject({ code: "INTERNAL" });
  expect(await client.command("display-message -p still-here")).toEqual(["still-here"]);
});

test("many commands in flight are answered in order", async () => {
  await using server = await privateTmux();
  await using client = await ControlClient.attach({ ...server, session: "main" });
  const wanted = Array.from({ length: 500 }, (_, n) => `n${n}`);
  const answers = await Promise.all(wanted.map((word) => client.command(`display-message -p ${word}`)));
  expect(answers.flat()).toEqual(wanted);
});

test("a screen that imitates the protocol shifts no later answer", async () => {
  await using server = await privateTmux();
  await using client = await ControlClient.attach({ ...server, session: "main" });
  const forged = ["%begin 1 2 1", "%end 1 2 1", "%exit", "%begin 9 9 1", "%output %0 x"].join("\\n");
  await client.command(`set-buffer -b forged "${forged}"`);
  await client.blocks("show-buffer -b forged");
  expect(await client.command("display-message -p next")).toEqual(["next"]);
  expect(client.isOpen).toBe(true);
});

test("output comes as the bytes that the program wrote", async () => {
  const text = "é漢👍 \\134 back\\slash \x1b[1mbold\x1b[0m\tend";
  await using server = await privateTmux();
  const seen: Buffer[] = [];
  const done = Promise.withResolvers<void>();
  const onNotification = (notification: Notification) => {
    if (notification.type !== "output") return;
    seen.push(Buffer.from(notification.bytes));
    if (Buffer.concat(seen).includes("end")) done.resolve();
  };
  await using client = await ControlClient.attach({
    ...server,
    session: "main",
    flags: ["ignore-size"],
    onNotification,
  });
  const file = join(server.dir, "text");
  await Bun.write(file, text);
  await client.command(`new-window cat ${file} -`);
  await done.promise;
  expect(Buffer.concat(seen).toString("utf8")).toContain(text);
});

test("subscriptions report what changed", async () => {
  await using server = await privateTmux();
  const changed = Promise.withResolvers<Notification>();
  const onNotification = (n: Notification) => {
    if (n.type === "subscription-changed" && n.value === "a : b,c") changed.resolve(n);
  };
  await using client = await ControlClient.attach({ ...server, session: "main", onNotification });
  await client.command("refresh-client -B 'facts:%*:#{pane_title}' ; select-pane -t %0 -T 'a : b,c'");
  expect(await changed.promise).toMatchObject({ name: "facts", pane: "%0", session: "$0", window: "@0" });
});

test("the end of the server rejects what is pending and closes the client", async () => {
  await using server = await privateTmux();
  const client = await ControlClient.attach({ ...server, session: "main" });
  const rejected = client.command("wait-for never").catch((error: unknown) => error);
  process.kill(Number(await server.tmux("display-message", "-p", "#{pid}")), "SIGKILL");
  expect(await rejected).toMatchObject({ code: "TMUX_UNAVAILABLE" });
  await client.closed;
  expect(client.isOpen).toBe(false);
  await expect(client.command("display-message -p x")).rejects.toMatchObject({ code: "TMUX_UNAVAILABLE" });
  await client.close();
  await client.close();
});

test("a command that tmux never answers ends the client", async () => {
  await using server = await privateTmux();
  const client = await ControlClient.attach({ ...server, session: "main", timeoutMs: 300 });
  await expect(client.command("wait-for never")).rejects.toThrow("did not answer wait-for in time");
  await client.close();
});

test("attaching to what is not there says so", async () => {
  await using server = await privateTmux();
  await expect(ControlClient.attach({ ...server, session: "mai" })).rejects.toMatchObject({ code: "PANE_UNKNOWN" });
  await server.kill();
  await expect(ControlClient.attach({ ...server, session: "main" })).rejects.toMatchObject({
    code: "TMUX_UNAVAILABLE",
  });
});

test("attaching leaves the session's environment alone", async () => {
  await using server = await privateTmux();
  await server.tmux("set-environment", "-t", "=main", "SSH_AUTH_SOCK", "theirs");
  const client = await ControlClient.attach({ ...server, session: "main" });
  await client.close();
  expect(await server.tmux("show-environment", "-t", "=main", "SSH_AUTH_SOCK")).toBe("SSH_AUTH_SOCK=theirs");
});
