import { expect, test } from "bun:test";
import { startTestDaemon } from "../testing/daemon.ts";

test("a notice that waits says why, on the agent and on its receipt, until the agent reads it", async () => {
  await using daemon = await startTestDaemon();
  const { client: ana } = await daemon.agent("ana");
  const { tag } = await daemon.user.call("send", { to: "ana", body: "thanks", kind: "ack" });
  const why = "a notice, which starts no turn, waits until ana reads its inbox";
  expect((await daemon.user.call("ls", {}))[0]).toMatchObject({ pending: 1, held: why });
  expect((await daemon.user.call("status", { tag })).deliveries[0]).toMatchObject({ state: "queued", reason: why });
  const mail = await ana.call("collect", {});
  await ana.call("collected", { deliveries: mail.map(({ delivery }) => delivery!) });
  expect((await daemon.user.call("ls", {}))[0]).toMatchObject({ pending: 0, held: null });
});
