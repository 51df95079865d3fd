import { describe, expect, test } from "bun:test";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { acceptedAt, delivery, delivered, letter, receipt, history } from "./views.fixture.ts";

const tieline = commandLineWithDaemon();

describe("reading messages", () => {
  test("show prints the body and nothing else", async () => {
    const body = "line one\n\ttwo  \\ no newline at the end";
    tieline.daemon.answers.show = () => ({
      id: "i",
      tag: "MSG_USER_7f3a91c2",
      from: "user",
      to: "engineer",
      team: "default",
      kind: "text",
      body,
      inReplyTo: null,
      thread: "i",
      acceptedAt,
      reader: "user",
    });
    expect(await tieline.run(["show", "MSG_USER_7f3a91c2"])).toEqual({ code: 0, stdout: body, stderr: "" });
    expect(await tieline.json(["show", "MSG_USER_7f3a91c2"])).toMatchObject({ body });
  });

  test("inbox: the caller's own, whole letters, times in ISO-8601", async () => {
    tieline.daemon.answers.inbox = () => [
      letter(),
      letter({ tag: "MSG_ANA_00000001", from: "ana", state: "queued", reason: "busy" }),
    ];
    const { stdout } = await tieline.run(["inbox"]);
    expect(stdout).toMatch(/^✓ MSG_ENGINEER_0a0b0c0d from engineer {3}.* ago, delivered\n {2}done\n {2}all green\n\n/);
    expect(stdout).toMatch(/\n\n· MSG_ANA_00000001 from ana {3}.* ago, queued: busy\n/);
    const [first] = await tieline.json(["inbox", "engineer", "--pending", "--peek", "--limit", "3"]);
    expect(first).toMatchObject({
      tag: "MSG_ENGINEER_0a0b0c0d",
      body: "done\nall green",
      at: "2026-01-02T03:04:05.000Z",
    });
    expect(Object.keys(first)).toContainValues(["id", "tag", "from", "to", "body", "state", "reason", "at"]);
    expect(tieline.inputs()).toEqual([{}, { agent: "engineer", pending: true, peek: true, limit: 3 }]);
  });

  test("what inbox took out of the queue is confirmed after it was printed", async () => {
    tieline.daemon.answers.inbox = () => [letter({ delivery: 7 }), letter(), letter({ delivery: 9 })];
    tieline.daemon.answers.collected = ({ deliveries }) => ({ seen: deliveries.length });
    expect(await tieline.run(["inbox"])).toMatchObject({ code: 0, stderr: "" });
    expect(tieline.daemon.calls.map(({ name }) => name)).toEqual(["inbox", "whoami", "collected"]);
    expect(tieline.inputs()[1]).toEqual({ deliveries: [7, 9] });
  });

  test("an empty inbox", async () => {
    tieline.daemon.answers.inbox = () => [];
    expect((await tieline.run(["inbox"])).stdout).toBe("no mail\n");
    expect(await tieline.json(["inbox"])).toEqual([]);
  });

  test("status shows the history, step by step", async () => {
    const whole = history();
    tieline.daemon.answers.status = () => ({
      ...whole,
      steps: whole.steps.map((step, at) => (at === 2 ? { ...step, leftOut: 12_345 } : step)),
    });
    const { stdout } = await tieline.run(["status", "MSG_USER_7f3a91c2"]);
    const [leftOut] = /^.* steps .*\n/m.exec(stdout)!;
    expect(leftOut).toBe("  … 12,345 earlier steps of waiting are not kept\n");
    const lines = stdout.replace(leftOut, "").split("\n");
    expect(lines[0]).toBe("MSG_USER_7f3a91c2   user → engineer · team default · known by user · when: turn");
    expect(lines[3]).toMatch(/\+0 ms {2}engineer {2}accept {3}→ queued$/);
    expect(lines[4]).toMatch(/engineer {2}hold {5}stays queued {3}a permission dialog is open in %14$/);
    expect(lines[6]).toMatch(/\+0\.3 s {2}engineer {2}settle {3}→ delivered {3}by tmux, proof: screen$/);
    expect(lines[8]).toStartWith("✓ MSG_USER_7f3a91c2 → engineer   delivered after 0.3 s");
    const value = await tieline.json(["status", "MSG_USER_7f3a91c2"]);
    expect(value.steps).toHaveLength(4);
    expect(value.steps[0].at).toBe("2026-01-02T03:04:05.000Z");
    expect(value.deliveries[0]).toMatchObject({ agent: "engineer", state: "delivered", proof: "screen" });
  });

  test("log is one line for each message", async () => {
    tieline.daemon.answers.log = () => [
      receipt({ deliveries: [delivered()] }),
      receipt({ to: "@all", deliveries: [delivered("ana"), delivery({ agent: "bob" })] }),
    ];
    const { stdout } = await tieline.run(["log", "engineer", "--since", "1h", "--grep", "a b", "--limit", "2"]);
    expect(stdout).toMatch(/^(?:.*\n){2}.*MSG_USER_7f3a91c2 {3}user → @all {7}1 delivered, 1 queued {3}please look\n$/);
    expect(tieline.inputs()[0]).toMatchObject({ agent: "engineer", grep: "a b", limit: 2 });
    expect(Date.now() - (tieline.inputs()[0]!["since"] as number)).toBeGreaterThanOrEqual(3_600_000);
  });

  test("dead, cancel and retry", async () => {
    tieline.daemon.answers = {
      dead: () => [receipt({ deliveries: [delivery({ state: "failed", reason: "the agent was removed" })] })],
      cancel: () => receipt({ deliveries: [delivery({ state: "cancelled" })] }),
      retry: () => receipt(),
    };
    expect((await tieline.run(["dead"])).stdout).toBe(
      "✗ MSG_USER_7f3a91c2 → engineer   failed: the agent was removed\n",
    );
    expect((await tieline.run(["cancel", "MSG_USER_7f3a91c2", "--agent", "engineer"])).stdout).toBe(
      "✗ MSG_USER_7f3a91c2 → engineer   cancelled\n",
    );
    expect((await tieline.run(["retry", "MSG_USER_7f3a91c2"])).stdout).toBe(
      "· MSG_USER_7f3a91c2 → engineer   queued\n",
    );
    expect(tieline.inputs()).toEqual([
      {},
      { tag: "MSG_USER_7f3a91c2", agent: "engineer" },
      { tag: "MSG_USER_7f3a91c2" },
    ]);
  });
});
