/** What agents write, made safe to show, as on a terminal: hidden characters are visible. */
export { visible } from "../src/model/visible.ts";

/** One line without the marks of markdown, for where there is no room for more. */
export const plain = (text: string): string =>
  text
    .replaceAll(/\*\*|~~|`+/g, "")
    .replaceAll(/(^|: )#{1,6} /g, "$1")
    .replaceAll(/(?<![\w*])\*([^\s*][^*]*)\*(?!\w)/g, "$1");

/** The lines of a dialog without the space that they all begin with; the first comes without any. */
export function dedented(text: string): string {
  const [first = "", ...rest] = text.split("\n");
  const least = Math.min(...rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/)));
  return [first, ...rest.map((line) => line.slice(least))].join("\n");
}
