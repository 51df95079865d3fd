import { expect } from "bun:test";
import { freshHas, type ModelRequest } from "../../fixtures/model-servers/server.ts";
import { sanitise } from "../../src/model/envelope.ts";
import type { Bench } from "./bench.ts";
import type { Switchboard } from "./switchboard.ts";

const alphabets = ["abc xyz\n", "äöü ßéñ", "世界 漢字かな", "👩‍👩‍👧 🎉", "مرحبا שלום", "`$(){}!@#%\\\"'<>[]\t", "/quit\n!ls @file #tag "].map((letters) => [...letters]);

export interface Flood {
  readonly count: number;
  readonly sizes?: readonly number[];
  /** What the program itself changes in a text before its model gets it. */
  readonly normalised?: (text: string) => string;
}

/** Sends random messages, by the person and by an agent in turn, and asserts that the model got each whole, once, in order. */
export async function expectAllInOrder(board: Switchboard, bench: Bench, { count, sizes = [1, 20, 300, 3_000, 20_000], normalised = (text) => text }: Flood): Promise<void> {
  const bob = await board.bobsToken();
  const sent = new Map<string, string>();
  for (let number = 0; number < count; number++) {
    const body = `${number}: ${randomText(number, sizes)}`;
    const tag = await (number % 2 === 0 ? board.send("ana", body) : board.sendAs(bob, "ana", body));
    sent.set(tag, body);
  }
  await bench.model.next((one) => freshHas(one, [...sent.keys()].at(-1)!), { deadlineMs: 240_000 });
  const given = userTexts(bench.model.requests.findLast((one) => !one.side)!);
  const ends = given.flatMap((text) => (/\n\[end (\S+) · reply/.exec(text)?.[1] ? [{ tag: /\n\[end (\S+) · reply/.exec(text)![1]!, text }] : []));
  expect(ends.map(({ tag }) => tag)).toEqual([...sent.keys()]);
  for (const { tag, text } of ends) expect(text).toContain(`]\n${normalised(sanitise(sent.get(tag)!, false))}\n[end ${tag}`);
}

/** How often the model was ever given a text, in all that it has read. */
export function timesGiven(bench: Bench, text: string): number {
  return userTexts(bench.model.requests.findLast((one) => !one.side)!).filter((one) => one.includes(text)).length;
}

const userTexts = (request: ModelRequest): string[] => request.entries.filter(({ role }) => role === "user").map(({ text }) => text);

function randomText(seed: number, sizes: readonly number[]): string {
  const letters = alphabets[seed % alphabets.length]!;
  const length = sizes[Math.floor(Math.random() * sizes.length)]!;
  return Array.from({ length }, () => letters[Math.floor(Math.random() * letters.length)]).join("").trim() || "x";
}
