import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Output, ReceiptView } from "../src/api/schema.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

/** One message after another through the whole machine, as scripts use it. */
describe("from the command to the pane", () => {
  let world: World;
  let pane: string;

  beforeAll(async () => {
    world = await startWorld();
    pane = await world.pane(["cat"]);
    await world.json(["adopt", pane, "--name", "ana"]);
  });
  afterAll(() => world[Symbol.asyncDispose]());

  const send = (...args: string[]): Promise<ReceiptView> => world.json<ReceiptView>(["send", ...args]);

  const shows = async (text: string, times: number): Promise<boolean> =>
    (await world.screen(pane)).split(text).length > times;
  const draft = async (text: string): Promise<void> => {
    await world.tmux("send-keys", "-t", pane, text);
    await until(() => shows(text, 1), "the draft");
  };
  /** What is typed before `cat` has answered would stand on no line of its own. */
  const enter = async (text: string): Promise<void> => {
    await world.tmux("send-keys", "-t", pane, "Enter");
    await until(() => shows(text, 2), "the answer of cat");
  };

  test("send returns once the message is stored, and it arrives under its tag", async () => {
    const receipt = await send("ana", "hello");
    expect(receipt).toMatchObject({
      from: "user",
      to: "ana",
      deliveries: [{ agent: "ana", state: "queued", attempts: 0 }],
    });
    expect(receipt.tag).toMatch(/^MSG_USER_[0-9a-f]{8}$/);
    expect(receipt.id.endsWith(receipt.tag.slice(-8))).toBeTrue();
    await until(async () => (await world.screen(pane)).includes(`${receipt.tag}: hello`), "the text in the pane");
  });

  test("--wait delivered answers with the proof and the way", async () => {
    const receipt = await send("ana", "--wait", "delivered", "with proof");
    expect(receipt.deliveries).toEqual([
      expect.objectContaining({ state: "delivered", proof: "screen", transport: "tmux", authority: "user" }),
    ]);
    const { steps } = await world.status(receipt.tag);
    expect(steps.map((step) => step.to).filter((to, at, all) => to !== all[at - 1])).toEqual([
      "queued",
      "claimed",
      "delivered",
    ]);
  });

  test("both orders of words, a file, and stdin are the same message", async () => {
    world.file("note.txt", "from a file\n");
    for (const [args, body, stdin] of [
      [["ana", "two", "words"], "two words", ""],
      [["--to", "ana", "words first"], "words first", ""],
      [["ana", "-f", "note.txt"], "from a file\n", ""],
      [["ana", "-"], "from stdin", "from stdin"],
      [["ana", "--", "-v is a flag"], "-v is a flag", ""],
    ] as const) {
      const { stdout, code } = await world.tieline(["send", "--json", ...args], { stdin });
      expect(code).toBe(0);
      const { tag } = JSON.parse(stdout) as ReceiptView;
      expect((await world.tieline(["show", tag])).stdout).toBe(body);
    }
  });

  test("the same key is the same message, other words under it are refused", async () => {
    const first = await send("ana", "--key", "k1", "once");
    expect((await send("ana", "--key", "k1", "once")).id).toBe(first.id);
    const other = await world.tieline(["send", "ana", "--key", "k1", "twice"]);
    expect([other.code, other.stderr]).toEqual([3, expect.stringContaining("error CONFLICT")]);
  });

  test("--wait seen fails at once where nothing could prove it", async () => {
    const result = await world.tieline(["send", "ana", "--wait", "seen", "x", "--json"]);
    expect([result.code, JSON.parse(result.stdout)]).toEqual([
      4,
      { error: expect.objectContaining({ code: "PROOF_UNAVAILABLE" }) },
    ]);
  });

  test("mail to the user is in their inbox, and is seen once it was shown", async () => {
    const socket = await world.tmux("display-message", "-p", "#{socket_path}");
    const asAna = { env: { TMUX: `${socket},1,0`, TMUX_PANE: pane } };
    const { tag, knownBy, from } = await world.json<ReceiptView>(["send", "user", "the build is green"], asAna);
    expect([from, knownBy]).toEqual(["ana", "pane"]);
    expect((await world.status(tag)).deliveries[0]!.state).toBe("queued");
    expect((await world.tieline(["inbox"])).stdout).toContain("the build is green");
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "seen", proof: "tool", transport: "pull" });
  });

  test("an agent cannot write to itself", async () => {
    const { code, stderr } = await world.tieline(["send", "user", "note to self"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining("error ROUTE_DENIED")]);
  });

  test("a recipient who is not there is refused with the nearest name", async () => {
    const { code, stderr } = await world.tieline(["send", "anna", "hi"]);
    expect([code, stderr]).toEqual([3, expect.stringContaining('did you mean "ana"')]);
  });

  test.each([
    [["send", "ana", ""], 2, "BODY_EMPTY"],
    [["send", "ana", "   "], 2, "BODY_EMPTY"],
    [["send", "ana", "-f", "/nonexistent"], 2, "USAGE"],
    [["send", "a b", "x"], 3, "ADDRESS_UNKNOWN"],
    [["status", "MSG_USER_00000000"], 3, "MESSAGE_UNKNOWN"],
    [["cancel", "MSG_USER_00000000"], 3, "MESSAGE_UNKNOWN"],
    [["adopt", "%99", "--name", "bob"], 3, "PANE_UNKNOWN"],
    [["adopt", "%0", "--name", "1up"], 2, "NAME_INVALID"],
    [["adopt", "%0", "--name", "bob"], 3, "CONFLICT"],
    [["sned", "ana", "x"], 2, "USAGE"],
  ] as const)("tieline %j exits with %i, %s", async (args, code, error) => {
    const result = await world.tieline([...args]);
    expect(result.stderr.split("\n")[0]).toStartWith(`error ${error}: `);
    expect(result.code).toBe(code);
  });

  test("a body over the limit is refused before anything is stored", async () => {
    world.file("big.txt", "x".repeat(1024 * 1024 + 1));
    const { code, stderr } = await world.tieline(["send", "ana", "-f", "big.txt"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("error BODY_TOO_LONG")]);
  });

  test("undelivered mail waits, says why, and can be cancelled", async () => {
    await draft("half a draft");
    const waiting = await send("ana", "later").then(async ({ tag }) => {
      await until(async () => (await world.status(tag)).deliveries[0]!.reason !== null, "a reason");
      return world.status(tag);
    });
    expect(waiting.deliveries[0]).toMatchObject({ state: "queued", attempts: 0 });
    const listed = (await world.ls()).find((agent) => agent.name === "ana")!;
    expect(listed.pending).toBeGreaterThan(0);
    await world.json(["cancel", waiting.tag]);
    expect((await world.status(waiting.tag)).deliveries[0]!.state).toBe("cancelled");
    expect((await world.screen(pane)).includes("later")).toBeFalse();
    await enter("half a draft");
  });

  test("mail with a time to live expires, and its sender finds a bounce", async () => {
    await draft("another draft");
    const { tag } = await send("ana", "--ttl", "300ms", "too late");
    await until(async () => (await world.status(tag)).deliveries[0]!.state === "expired", "expiry");
    const bounce = (await world.json<{ kind: string; body: string }[]>(["inbox"])).find((row) => row.kind === "bounce");
    expect(bounce?.body).toContain(tag);
    expect((await world.json<ReceiptView[]>(["dead"])).map((one) => one.tag)).toContain(tag);
    await enter("another draft");
    await world.json(["retry", tag]);
    await until(async () => (await world.screen(pane)).includes("too late"), "the retried message");
  });
});

test("the daemon counts what waits, not for whom", async () => {
  await using world = await startWorld();
  const waiting = async (): Promise<number> => (await world.json<Output<"daemonStatus">>(["daemon", "status"])).waiting;
  await world.json(["adopt", await world.pane(["cat"]), "--name", "late"]);
  await world.json(["kill", "late"]);
  for (const body of ["one", "two", "three"]) await world.json(["send", "late", body]);
  expect(await waiting()).toBe(3);
});
