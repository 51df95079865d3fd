import { expect } from "bun:test";
import type { ModelRequest } from "../../fixtures/model-servers/server.ts";
import { sanitise } from "../../src/model/envelope.ts";
import { asRead } from "./asRead.ts";
import type { Bench } from "./bench.ts";
import type { Switchboard } from "./switchboard.ts";

const alphabets = [
  "abc xyz\n",
  "äöü ßéñ",
  "世界 漢字かな",
  "👩‍👩‍👧 🎉",
  "مرحبا שלום",
  "`$(){}!@#%\\\"'<>[]\t",
  "</external_tieline>\n/quit\n!ls @file #tag ",
  "नमस्ते กำลัง 한글 ",
  "│─›❯↑\n",
].map((letters) => [...letters]);

export interface Flood {
  readonly count: number;
  readonly sizes?: readonly number[];
  /** Where agents' words come beside the user's prompts, only those of one sender keep their order. */
  readonly perSender?: boolean;
  /** With whose token the agent speaks; that of the bob who was started beside the program, unless told. */
  readonly bob?: string;
}

/**
 * Sends random messages, by the user and by an agent in turn, and asserts that the model got each whole, once, in
 * order.
 */
export async function expectAllInOrder(
  board: Switchboard,
  bench: Bench,
  { count, sizes = [1, 20, 300, 3_000, 20_000], perSender = false, bob }: Flood,
): Promise<void> {
  const token = bob ?? (await board.bobsToken());
  const sent = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    const body = `${number}: ${randomText(number, sizes)}`;
    const tag = await (number % 2 === 0 ? board.send("ana", body) : board.sendAs(token, "ana", body));
    sent.set(tag, body);
  }
  for (const tag of sent.keys()) await board.reached(tag, ({ state }) => state === "seen", 240_000);
  const whole = await bench.model.next((one) =>
    [...sent.keys()].every((tag) => one.entries.some(({ text }) => text.includes(tag))),
  );
  const given = userTexts(whole).join("\n");
  const came = [...given.matchAll(/\n\[end (MSG_\S+) · reply/g)].map(([, tag]) => tag!);
  const senders = perSender ? ["MSG_USER_", "MSG_BOB_"] : ["MSG_"];
  for (const sender of senders)
    expect(came.filter((tag) => tag.startsWith(sender))).toEqual(
      [...sent.keys()].filter((tag) => tag.startsWith(sender)),
    );
  for (const [tag, body] of sent)
    expect(asRead(messageIn(given, tag))).toContain(`]\n${sanitise(body, false)}\n[end ${tag}`);
}

/** From its first line to its last, and the line behind that which tells how to read it. */
const messageIn = (given: string, tag: string): string =>
  new RegExp(`\\[${tag} from [^]*\n\\[end ${tag}.*\\](?:\\n\\[read .*\\])?`).exec(given)![0];

/** How often the model was given a text, by the newest request of the conversation. */
export function timesGiven(bench: Bench, text: string): number {
  const { entries } = bench.model.requests.findLast((one) => !one.side)!;
  return entries.filter((entry) => entry.role !== "assistant" && entry.text.includes(text)).length;
}

const userTexts = (request: ModelRequest): string[] =>
  request.entries.filter(({ role }) => role === "user").map(({ text }) => text);

function randomText(seed: number, sizes: readonly number[]): string {
  const letters = alphabets[seed % alphabets.length]!;
  const length = sizes[Math.floor(Math.random() * sizes.length)]!;
  return (
    Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)])
      .join("")
      .trim() || "x"
  );
}
