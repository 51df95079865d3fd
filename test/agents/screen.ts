/** What a pane shows, and what tmux knows about the pane. */
export interface Screen {
  text: string;
  title: string;
  /** The program in the foreground. */
  command: string;
  cursorX: number;
  cursorY: number;
  inMode: boolean;
  alternate: boolean;
  dead: boolean;
}

const fields = [
  "#{cursor_x}",
  "#{cursor_y}",
  "#{pane_in_mode}",
  "#{alternate_on}",
  "#{pane_dead}",
  "#{pane_current_command}",
  "#{pane_title}",
];

/** One tmux command list that prints the facts on the first line and the visible screen below. */
export function captureCommand(pane: string, styles: boolean): string[] {
  const capture = ["capture-pane", "-p", ...(styles ? ["-e"] : []), "-t", pane];
  return ["display-message", "-p", "-t", pane, fields.join("\t"), ";", ...capture];
}

export function parseCapture(printed: string): Screen {
  const end = printed.indexOf("\n");
  const [x, y, mode, alternate, dead, command = "", ...title] = printed.slice(0, end).split("\t");
  return {
    text: printed.slice(end + 1),
    title: title.join("\t"),
    command,
    cursorX: Number(x),
    cursorY: Number(y),
    inMode: mode === "1",
    alternate: alternate === "1",
    dead: dead === "1",
  };
}
