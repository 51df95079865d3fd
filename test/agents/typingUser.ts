/** A user who begins to type just when a message arrives: what is glued to the other, cut or lost. */
import type { ModelServer } from "../../fixtures/model-servers/server.ts";
import type { HistoryView } from "../../src/api/schema.ts";
import { attachUser } from "../../src/testing/tmux.ts";
import type { Bench } from "./bench.ts";
import type { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

export interface TypedRound {
  readonly tag: string;
  readonly afterMs: number;
  readonly transport: string | null;
  /** What is wrong; null: the model got both texts, each whole and by itself. */
  readonly wrong: string | null;
}

/** The first key comes this long after the send, from round to round later, and then from the beginning again. */
const latestMs = 150;
const stepMs = 10;
/** Between two keys. Codex takes faster ones for a paste. */
const keyMs = 25;

export async function typeWhileDelivering(board: Switchboard, bench: Bench, rounds: number): Promise<TypedRound[]> {
  await using user = await attachUser(
    { tmux: (...args) => bench.tmux(...args), socketPath: bench.tmuxSocket },
    "bench",
  );
  const client = board.client();
  const ready = async (): Promise<void> => {
    let hold: unknown = "not asked yet";
    await until(async () => (hold = (await client.call("explain", { agent: "ana" })).hold) === null, {
      what: async () => `ana can be written to; she is held: ${String(hold)}\n${(await bench.capture()).text}`,
    });
  };
  const done: TypedRound[] = [];
  for (let round = 0; round < rounds; round++) {
    const afterMs = (round * stepMs) % (latestMs + stepMs);
    const own = `own${String(round).padStart(3, "0")}words`;
    await ready();
    const sending = client.call("send", { to: "ana", body: `message ${round}` });
    await Bun.sleep(afterMs);
    for (const key of own) {
      await user.press("-l", key);
      await Bun.sleep(keyMs);
    }
    const { tag } = await sending;
    await until(async () => shown((await bench.capture()).text, own) || given(bench.model, own).length > 0, {
      what: async () => `the screen shows ${own}\n${(await bench.capture()).text}`,
    });
    await user.press("Enter");
    const history = await board.reached(
      tag,
      ({ state }) => state === "seen" || state === "uncertain" || state === "failed",
    );
    await until(() => given(bench.model, own).length > 0, {
      what: async () => `the model gets ${own}\n${(await bench.capture()).text}`,
    });
    done.push({
      tag,
      afterMs,
      transport: history.deliveries[0]!.transport,
      wrong: whatIsWrong(bench.model, tag, own, history),
    });
  }
  return done;
}

/** A long line is broken where it does not fit. */
const shown = (screen: string, text: string): boolean => screen.replaceAll(/\s/g, "").includes(text);

/** What the model was given that holds the text, in the newest request that does. */
function given(model: ModelServer, text: string): string[] {
  const request = model.requests.findLast(
    (one) => !one.side && one.entries.some((entry) => entry.role === "user" && entry.text.includes(text)),
  );
  return (
    request?.entries
      .filter(({ role, text: whole }) => role === "user" && whole.includes(text))
      .map((entry) => entry.text) ?? []
  );
}

function whatIsWrong(
  model: ModelServer,
  tag: string,
  own: string,
  { deliveries: [delivery] }: HistoryView,
): string | null {
  const [message, ...more] = given(model, `[end ${tag}`);
  const [prompt, ...others] = given(model, own);
  if (delivery!.state !== "seen") return `${delivery!.state}: ${delivery!.reason}`;
  if (message === undefined || more.length > 0) return `the message came ${message === undefined ? "never" : "twice"}`;
  if (others.length > 0) return "the user's text came twice";
  const whole = new RegExp(`(?:^|\\s)\\[${tag} from user\\]\\n[^]*\\n\\[end ${tag} · reply: [^\\]]*\\](?=\\s|<|$)`);
  if (!whole.test(message)) return `the message is not whole: ${JSON.stringify(message)}`;
  if (!new RegExp(`(?:^|\\s)${own}(?=\\s|<|$)`).test(prompt!))
    return `the user's text is not by itself: ${JSON.stringify(prompt)}`;
  return message === prompt ? `both came as one: ${JSON.stringify(message)}` : null;
}
