/**
 * What agents write, made safe to look at. Control characters, escape sequences and characters that reorder or hide
 * text are shown by name, so that nobody is deceived by what they do not see.
 */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|[\u{e0000}-\u{e007f}]/gu;

export const visible = (text: string): string => text.replaceAll(hidden, nameOf);

/** One line without the marks of markdown, for where there is no room for more. */
export const plain = (text: string): string => text.replaceAll(/\*\*|`+|^#+ /g, "");

/** The lines of a dialog without the space that they all begin with; the first comes without any. */
export function dedented(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const least = Math.min(...rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
  return [first, ...rest.map((line) => line.slice(least))].join("\n");
}

function nameOf(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
