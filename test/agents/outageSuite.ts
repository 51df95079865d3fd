/** A model server that is down, slow, drops connections or answers with errors, behind a message that was delivered. */
import { expect } from "bun:test";
import { fail, freshHas, Gate, hang, say, type ModelServer } from "../../fixtures/model-servers/server.ts";
import type { AgentView, InboxView, HistoryView } from "../../src/api/schema.ts";
import type { Bench, BenchOptions } from "./bench.ts";
import type { ProgramTest } from "./programTest.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

export interface Outage {
  readonly test: ProgramTest;
  /** The program as `ana`, started by Tieline or by a user. */
  readonly start: (board: Switchboard, options?: BenchOptions) => Promise<Bench>;
  /** Waits until the program waits for a prompt again. */
  readonly untilIdle: (bench: Bench) => Promise<void>;
  /** Begins a new conversation. */
  readonly clear: (bench: Bench) => Promise<void>;
  /** What the program says of each failure. */
  readonly words: Readonly<Record<string, RegExp>>;
}

const failures: Readonly<Record<string, (model: ModelServer) => void>> = {
  "401": (model) => model.add(fail(401)),
  "429": (model) => model.add(fail(429)),
  "500": (model) => model.add(fail(500)),
  "529": (model) => model.add(fail(529)),
  dropped: (model) => model.add({ broken: true }),
};

/** Far more than an answer or an error takes, so that what never comes fails soon. */
const patience = ["--timeout", "30s"];
const patienceMs = 30_000;

const noticesOf = async (board: Switchboard): Promise<readonly string[]> =>
  (await board.client().call("inbox", { peek: true }))
    .filter(({ from }: InboxView) => from === "tieline")
    .map(({ body }) => body);

/** Notices follow the receipt, in a message of their own. */
async function untilNotice(board: Switchboard, words: string): Promise<readonly string[]> {
  let bodies: readonly string[] = [];
  await until(async () => (bodies = await noticesOf(board)).some((body) => body.includes(words)), {
    deadlineMs: patienceMs,
    what: async () => `a notice says "${words}"; there are ${JSON.stringify(bodies)}`,
  });
  return bodies;
}

/** While the model server is down the program retries. The receipt and a notice say so; the message is read later. */
export async function retriesWhileDown(board: Switchboard, bench: Bench, reason: string): Promise<void> {
  await bench.model.down();
  const tag = await board.send("ana", "are you there?");
  const { deliveries } = await board.reached(tag, ({ notes }) => notes.length > 0);
  expect(deliveries[0]).toMatchObject({
    state: "delivered",
    warning: null,
    notes: [{ code: "retrying", text: expect.stringContaining(reason) }],
  });
  const told = async (): Promise<boolean> =>
    (await board.client().call("inbox", { peek: true })).some(({ body }) =>
      body.includes("default:ana cannot reach its model: "),
    );
  await until(told, { what: async () => "the user gets a notice" });
  bench.model.up();
  expect((await board.reached(tag, ({ state }) => state === "seen")).deliveries[0]!.notes).toEqual([]);
}

export function outageSuite(kind: string, { test, start, untilIdle, clear, words }: Outage): void {
  for (const [name, break_] of Object.entries(failures)) {
    test(`${kind}, ${name}: delivered, not read, with the reason; the next prompt takes it along`, async () => {
      await using board = await Switchboard.start();
      await using bench = await start(board);
      break_(bench.model);
      const { code, stdout, stderr } = await board.tieline([
        "send",
        "ana",
        "--wait",
        "seen",
        ...patience,
        "do not lose this",
      ]);
      expect([code, stderr]).toEqual([
        4,
        expect.stringMatching(
          /error NOT_READ: MSG_USER_\w+ was delivered to ana, but not read: the model's API failed: /,
        ),
      ]);
      expect(stderr).toMatch(words[name]!);
      expect(stdout).toContain("! MSG_USER_");
      const tag = /MSG_USER_\w+/.exec(stderr)![0];
      const history = await board.status(tag);
      expect(history.deliveries[0]).toMatchObject({ state: "delivered", proof: "submitted" });
      expect(history.deliveries[0]!.warning).toMatch(words[name]!);
      expect(await untilNotice(board, "default:ana cannot reach its model: ")).toHaveLength(1);
      await untilIdle(bench);
      const next = await board.send("ana", "--wait", "seen", ...patience, "and this");
      expect((await board.reached(tag, ({ state }) => state === "seen", patienceMs)).deliveries[0]).toMatchObject({
        proof: "transcript",
        warning: null,
      });
      const request = await bench.model.next((one) => freshHas(one, next));
      expect(request.entries.some(({ text }) => text.includes(tag))).toBe(true);
      neverEarly(bench, [await board.status(tag), await board.status(next)]);
      expect(await noticesOf(board)).toHaveLength(1);
    });
  }

  test(`${kind}, cleared after an error: the receipt says that it was discarded, and so does a notice`, async () => {
    await using board = await Switchboard.start();
    await using bench = await start(board);
    bench.model.add(say("before"));
    await board.send("ana", "--wait", "seen", ...patience, "begin");
    await untilIdle(bench);
    bench.model.add(fail(529));
    const { code, stderr } = await board.tieline(["send", "ana", "--wait", "seen", ...patience, "discard this"]);
    expect(code).toBe(4);
    const tag = /MSG_USER_\w+/.exec(stderr)![0];
    await untilIdle(bench);
    const { pane } = (await board.json<AgentView[]>("ls")).find(({ name }) => name === "ana")!;
    await clear(bench);
    const next = await board.send("ana", "--wait", "seen", ...patience, "a new beginning");
    const { deliveries } = await board.reached(tag, ({ state }) => state === "failed", patienceMs);
    expect(deliveries[0]!.reason).toContain("before the model read it");
    const request = await bench.model.next((one) => freshHas(one, next));
    expect(request.entries.some(({ text }) => text.includes(tag))).toBe(false);
    const lost = `${tag} to ana was not delivered`;
    expect((await untilNotice(board, lost)).filter((body) => body.includes(lost))).toHaveLength(1);
    // The program that was cleared is the one that continues; no second one is started for the mail.
    const { events } = await board.client().call("events", { agent: "ana", types: ["agent.changed"] });
    const states = events.map((event) => (event.type === "agent.changed" ? event.state : event.type));
    expect(states.filter((state) => ["done", "gone"].includes(state))).toEqual([]);
    expect((await board.json<AgentView[]>("ls")).find(({ name }) => name === "ana")!.pane).toBe(pane);
  });

  test(`${kind}, a slow model: not seen before it answers`, async () => {
    await using board = await Switchboard.start();
    await using bench = await start(board);
    const gate = new Gate();
    bench.model.add(hang(gate));
    const tag = await board.send("ana", "take your time");
    await gate.reached;
    const { deliveries } = await board.reached(tag, ({ proof }) => proof === "submitted", patienceMs);
    expect(deliveries[0]!.state).toBe("delivered");
    gate.open();
    neverEarly(bench, [await board.reached(tag, ({ state }) => state === "seen", patienceMs)]);
  });

  test(`${kind}, 20 deliveries: none is seen before the model has the request`, async () => {
    await using board = await Switchboard.start();
    await using bench = await start(board);
    const histories: HistoryView[] = [];
    for (let at = 1; at <= 20; at++) {
      const tag = await board.send("ana", "--wait", "seen", ...patience, `number ${at}`);
      histories.push(await board.status(tag));
      await untilIdle(bench);
    }
    const margins = neverEarly(bench, histories).toSorted((a, b) => a - b);
    console.log(`${kind}: seen ${margins[0]} to ${margins.at(-1)} ms after the request, median ${margins[10]} ms`);
  });
}

/** How long after the model got each message it was said to be seen. */
export function neverEarly({ model }: Bench, histories: readonly HistoryView[]): number[] {
  const margins = histories.map(({ tag, steps }) => {
    const request = model.requests.find(
      (one) => !one.side && one.entries.some(({ text }) => text.includes(`[${tag} from `)),
    );
    const seen = steps.find(({ to }) => to === "seen");
    return seen!.at - request!.receivedAt;
  });
  expect(margins.filter((margin) => margin < 0)).toEqual([]);
  return margins;
}
