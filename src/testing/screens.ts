/** The captured screens of real programs, with what is true of each. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Screen, ScreenState } from "../providers/screen.ts";

export interface LabelledScreen {
  file: string;
  provider: string;
  state: ScreenState;
  draft: boolean;
  screen: Screen;
  /** Set where the label that came with the capture contradicts what the capture shows. */
  corrected?: string;
}

interface Label {
  file: string;
  provider: string;
  state: ScreenState;
  draft: boolean;
  title?: string | null;
  cursor?: [number, number] | null;
  cursorHidden?: boolean;
  command?: string | null;
  alternate?: boolean;
  copyMode?: boolean;
  size?: string;
}

type Correction = Partial<Pick<Label, "state" | "draft">> & { file: string; because: string };

const root = join(import.meta.dir, "../../fixtures/screens");

/** Programs that have no rules of their own: other agent programs, viewers, editors. */
export const genericScreens = (): LabelledScreen[] =>
  readJson<Label[]>("generic/labels.json").map((label) => ({ ...label, screen: screenOf(label) }));

export function labelledScreens(): LabelledScreen[] {
  const corrections = new Map(readJson<Correction[]>("corrections.json").map((entry) => [entry.file, entry]));
  return readJson<Label[]>("labels.json").map((label) => {
    const correction = corrections.get(label.file);
    return {
      file: label.file,
      provider: label.provider,
      state: correction?.state ?? label.state,
      draft: correction?.draft ?? label.draft,
      screen: screenOf(label),
      ...(correction && { corrected: correction.because }),
    };
  });
}

function screenOf({ file, title, cursor, cursorHidden, command, alternate, copyMode, size }: Label): Screen {
  const [width, height] = (size ?? "").split("x").map(Number);
  return {
    lines: readFileSync(join(root, file), "utf8").replace(/\n$/, "").split("\n"),
    ...(title != null && { title }),
    ...(cursor && { cursor: { x: cursor[0], y: cursor[1] } }),
    ...(cursorHidden !== undefined && { cursorHidden }),
    ...(command != null && { command }),
    ...(alternate !== undefined && { alternate }),
    ...(copyMode !== undefined && { copyMode }),
    ...(width && { width }),
    ...(height && { height }),
  };
}

function readJson<T>(name: string): T {
  return JSON.parse(readFileSync(join(root, name), "utf8")) as T;
}
