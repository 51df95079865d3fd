/**
 * What a user does at a pane: press a key, look, and press it again when it was not taken. Programs lose keys that
 * come while they start or open a dialog, and a terminal's late answers land on whatever line is being edited.
 */
import type { Bench } from "./bench.ts";
import type { Screen } from "./screen.ts";
import { insist } from "./until.ts";

type Look = (screen: Screen) => boolean | Promise<boolean>;

/** Presses keys until the screen shows what they are for. Does nothing where it shows that already. */
export async function press(bench: Bench, keys: string | readonly string[], shows: Look): Promise<void> {
  const pressed = [keys].flat();
  let screen = await bench.capture();
  await insist(
    () => bench.send(...pressed),
    async () => shows((screen = await bench.capture())),
    {
      what: async () => `${pressed.join(" ")} was taken; the screen shows\n${screen.text}`,
    },
  );
}

/** Goes down a menu to the entry that begins with the label, and takes it. */
export async function choose(bench: Bench, label: string): Promise<void> {
  for (let entry = entryAt(await bench.capture()); !entry?.startsWith(label); entry = entryAt(await bench.capture())) {
    await press(bench, "Down", (screen) => entryAt(screen) !== entry);
  }
  await press(bench, "Enter", (screen) => !entryAt(screen)?.startsWith(label));
}

/** The selected entry of the menu. */
function entryAt({ text }: Screen): string | undefined {
  return [...text.matchAll(/^ *[❯›] (?:\d+\. )?(?<entry>.*\S)/gm)].at(-1)?.groups?.["entry"];
}

/** Gives a shell a line, on a line of its own, and waits for its effect. */
export async function typeLine(bench: Bench, line: string, isDone: () => boolean | Promise<boolean>): Promise<void> {
  const typed = async (): Promise<boolean> => {
    const shown = beforeCursor(await bench.capture());
    return ["$", "#"].some((mark) => shown.endsWith(withoutBlanks(`${mark} ${line}`)));
  };
  const what = async (): Promise<string> => `the shell ran ${line}; the screen shows\n${(await bench.capture()).text}`;
  const type = async (): Promise<void> => {
    // Late answers of the terminal may have put the shell into a search, which only this leaves.
    await bench.send("C-c");
    await bench.send("-l", line);
  };
  const enter = async (): Promise<void> => {
    await insist(type, typed, { what });
    await bench.send("Enter");
  };
  await insist(enter, isDone, { what });
}

/** A long line is wrapped by the shell itself, which can end a row with invisible blanks. */
function beforeCursor({ text, cursorX, cursorY }: Screen): string {
  const rows = text.split("\n").slice(0, cursorY + 1);
  return withoutBlanks([...rows.slice(0, -1), rows.at(-1)?.slice(0, cursorX)].join(""));
}

const withoutBlanks = (text: string): string => text.replaceAll(/\s/g, "");
