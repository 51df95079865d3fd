import type { StyleSpec } from "./manifest.ts";
import { isGrey, type Style } from "./parse.ts";

export function matchesStyle(spec: StyleSpec, style: Style, frame: string): boolean {
  const { fg, bg, bold, dim, reverse, marked } = spec;
  return (
    (fg === undefined || matchesColour(fg, style.fg, frame)) &&
    (bg === undefined || (style.bg === "") === (bg === "default")) &&
    (bold === undefined || style.bold === bold) &&
    (dim === undefined || style.dim === dim) &&
    (reverse === undefined || style.reverse === reverse) &&
    (marked === undefined || isMarked(style) === marked)
  );
}

function matchesColour(wanted: NonNullable<StyleSpec["fg"]>, fg: string, frame: string): boolean {
  switch (wanted) {
    case "default":
      return fg === "";
    case "other":
    case "accent":
      return fg !== "";
    case "grey":
      return fg !== "" && isGrey(fg);
    case "colour":
      return fg !== "" && !isGrey(fg);
    // A grey frame is the theme's own line colour and says nothing; a coloured one is the session's tint.
    case "frame":
      return fg !== "" && !isGrey(fg) && fg === frame;
  }
}

function isMarked(style: Style): boolean {
  return style.reverse || style.bold || style.fg !== "";
}
