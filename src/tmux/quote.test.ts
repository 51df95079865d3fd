import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { privateTmux } from "../testing/tmux.ts";
import { ControlClient } from "./control.ts";
import { commandLine, quote } from "./quote.ts";

const nasty = [
  "a\nb\n\n",
  "\ttab  two  spaces ",
  "\"double\" 'single' `tick`",
  "$HOME ${HOME} $(id) \\$HOME \\",
  "#{pane_id} #[fg=red] ## #(date) # comment",
  "~ ~/x",
  "ends with ;",
  ";",
  "\\;",
  "{ } % %if %1 @x =x",
  "-b -t --",
  "C-c Escape Enter",
  "\r\n carriage",
  "é 漢字 👩‍👩‍👧‍👦 \u202e",
  "\x1b[31m\x07\x7f\x01",
];

test("any text reaches a tmux buffer byte for byte", async () => {
  await using server = await privateTmux();
  await using client = await ControlClient.attach({ ...server, session: "main" });
  const file = join(server.dir, "saved");

  async function throughTmux(text: string): Promise<string> {
    await client.command(
      commandLine([
        ["set-buffer", "-b", "quoted", "--", text],
        ["save-buffer", "-b", "quoted", file],
      ]),
    );
    return readFile(file, "utf8");
  }

  for (const text of nasty) expect(await throughTmux(text)).toBe(text);
  const text = fc.string({ unit: "binary", minLength: 1, maxLength: 300 }).filter((t) => !t.includes("\0"));
  await fc.assert(
    fc.asyncProperty(text, async (t) => expect(await throughTmux(t)).toBe(t)),
    { numRuns: 150 },
  );
  const mebibyte = `${nasty.join("")}漢`.repeat(8000).slice(0, 400_000).padEnd(1_010_000, '"$\\\n');
  expect(Buffer.byteLength(mebibyte)).toBeGreaterThan(1 << 20);
  expect(await throughTmux(mebibyte)).toBe(mebibyte);
}, 60_000);

test("what tmux cannot carry is refused", () => {
  expect(() => quote("a\0b")).toThrow("NUL");
  expect(() => quote("\ud800")).toThrow("half a character");
});
