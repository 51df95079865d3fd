import fc from "fast-check";

/** Pieces that the grammar is about, and pieces that break it. */
const piece = fc.oneof(
  fc.constantFrom(
    "@a: ",
    "@b-c:",
    "@all: ",
    "ASST: ",
    "Done. ",
    "\n",
    "\n\n",
    "\r\n",
    "    ",
    "> ",
    "- ",
    "```",
    "~~~",
    "````\n",
    "`",
    '"',
    "'",
    "“",
    "”",
    "<<SWARM_MSG:TO=a:START>>",
    "<<SWARM_MSG:BROADCAST:START>>",
    "<<SWARM_MSG:END>>",
    "<<SWARM_MSG:TO=",
    "<<SWARM_",
    ">>",
    "USER: ",
    "[2026-01-31 09:00:00] RES: ",
    "me@x.com: ",
    "😀",
    "\ud83d",
    "text",
    " ",
    "@",
    ":",
    "**",
    "_",
    "* ",
    "1. ",
    "**@a:** ",
    "\x1b",
    "\x1b[0m",
    "\x1b[3",
    "\x9b1m",
    "\x1b]0;",
    "\x07",
    "\x1b\\",
  ),
  fc.string({ unit: "binary", maxLength: 5 }),
);

/** Arbitrary agent output, dense in everything that means something. */
export const transcript: fc.Arbitrary<string> = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(""));

export function cutAt(text: string, cuts: number[]): string[] {
  const places = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length].sort((a, b) => a - b);
  return places.slice(1).map((place, i) => text.slice(places[i], place));
}
