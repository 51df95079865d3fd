import { expect } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { batch, say, type ModelRequest } from "../../fixtures/model-servers/server.ts";
import { claudeTest } from "./claudeCode.ts";
import { Switchboard } from "./switchboard.ts";
import { until } from "./until.ts";

const total = 200;
const kills = new Set([60, 130]);
const alphabets = [
  "abc xyz 0189 .,;:!?",
  "äöü ß éèê ñ",
  "世界 你好 日本語",
  "👩‍👩‍👧 🚀 ✓",
  "שלום مرحبا",
  "\"'`$(){}[]<>\\|&;#*~",
  "two\nlines\n\n  indented",
];

/** A repeatable sequence, so that a failure can be looked at again. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

claudeTest(
  "200 messages of random sizes and alphabets, in random states, over two kills of the daemon: whole, once " +
    "each, and in order per sender and urgency",
  async () => {
    const random = randomFrom(20_261_115);
    await using board = await Switchboard.start({ guards: { perPairPerMinute: 1_000, perSenderPerMinute: 1_000 } });
    await using bench = await board.claude({
      permissions: "allow",
      script: (request) =>
        request.entries.at(-1)?.role !== "tool" && random(3) === 0
          ? batch({ name: "Bash", input: { command: `sleep 0.${random(3)}`, description: "scripted" } })
          : say(`ok ${request.index}`),
    });
    const bob = await board.another("bob");
    const sent: { tag: string; body: string; kind: string }[] = [];
    for (let n = 0; n < total; n++) {
      if (kills.has(n)) await board.killDaemon();
      const words = Array.from(
        { length: 1 + random(random(20) === 0 ? 400 : 12) },
        () => alphabets[random(alphabets.length)]!,
      );
      const body = `no. ${n}: ${words.join(" ")} (end of ${n})`;
      const when = ["turn", "turn", "tool", "interrupt"][random(4)]!;
      const sender = random(2) === 0 ? "user" : "bob";
      const args = ["ana", "--when", when, body];
      sent.push({
        body,
        kind: `${sender}, ${when}`,
        tag: sender === "user" ? await board.send(...args) : await board.sendAs(bob, ...args),
      });
    }
    await until(
      async () =>
        (await board.json<{ deliveries: { state: string }[] }[]>("log", "--limit", "1000")).every(
          ({ deliveries: [one] }) => one!.state === "seen" || one!.state === "answered",
        ),
      {
        deadlineMs: 600_000,
        what: async () => {
          const late = (
            await board.json<{ tag: string; deliveries: { state: string; reason: string | null }[] }[]>(
              "log",
              "--limit",
              "1000",
            )
          ).filter(({ deliveries: [one] }) => one!.state !== "seen");
          const log = readFileSync(join(board.home, "daemon.log"), "utf8").slice(-2_000);
          return `all are seen; not yet: ${JSON.stringify(late.slice(0, 5), null, 1)}\n${log}`;
        },
      },
    );
    await bench.untilStatus("idle");
    const last = bench.model.requests.filter((one) => one.agentId === undefined && !one.side).at(-1)!;
    const broken = sent.filter(({ tag, body }) => !isWhole(last, tag, body));
    const around = (tag: string): string =>
      text(last).slice(Math.max(0, text(last).indexOf(tag) - 200), text(last).indexOf(tag) + 600);
    expect(broken.map(({ tag, body }) => `${tag}, ${Buffer.byteLength(body)} bytes: ${around(tag)}`)).toEqual([]);
    for (const kind of new Set(sent.map((one) => one.kind))) {
      const places = sent
        .filter((one) => one.kind === kind)
        .map(({ tag }) => ({ tag, at: text(last).indexOf(`[${tag} from`) }));
      const swapped = places.filter(({ at }, index) => index > 0 && at < places[index - 1]!.at);
      expect(swapped.map(({ tag }) => `${kind}: ${tag} was read before the one that was sent before it`)).toEqual([]);
    }
    const repeated = sent.filter(({ tag }) => frames(last, tag) !== 1 && !stoppedCalls(last, tag));
    expect(repeated.map(({ tag }) => `${tag} was read ${frames(last, tag)} times`)).toEqual([]);
  },
  900_000,
);

const text = (request: ModelRequest): string => request.entries.map((entry) => entry.text).join("\n");
const frames = (request: ModelRequest, tag: string): number => text(request).split(`[${tag} from`).length - 1;
/**
 * The input box composes characters, so the message is compared in that form. What is too long for a hook, or could
 * not be checked on the screen before Enter, rings instead: the model gets the command that shows it.
 */
function isWhole(request: ModelRequest, tag: string, body: string): boolean {
  if (
    text(request)
      .normalize("NFC")
      .includes(`${body.normalize("NFC")}\n[end ${tag}`)
  )
    return true;
  return (
    Buffer.byteLength(body) > 1_000 &&
    text(request).includes(`${Buffer.byteLength(body)} bytes · read it with: tieline show ${tag}`)
  );
}
/** A message that refuses a batch of calls is the answer to each of them. */
const stoppedCalls = (request: ModelRequest, tag: string): boolean =>
  request.entries.some(
    (entry) => entry.role === "tool" && entry.isError === true && entry.text.includes(`[${tag} from`),
  );
