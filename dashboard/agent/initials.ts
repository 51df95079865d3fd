/** What an avatar shows. Names that differ only at the end, such as worker-1 to worker-52, look different. */

/** At most three characters: `w17` of worker-17, `cr` of code-reviewer or codeReviewer, `le` of lead. */
export function initialsOf(name: string): string {
  const words = name.match(/\p{Lu}?\p{Ll}+|\p{Lu}+(?!\p{Ll})|\d+|[^\p{L}\d\s_-]+|\p{L}/gu) ?? [];
  const [first = "", ...rest] = words;
  const last = rest.at(-1) ?? "";
  if (/^\d+$/.test(last)) return `${take(first, 1)}${last.slice(-2)}`.toLowerCase();
  if (rest.length > 0) return `${take(first, 1)}${take(rest[0]!, 1)}`.toLowerCase();
  return take(first === "" ? name : first, 2).toLowerCase();
}

const take = (text: string, count: number): string => [...text].slice(0, count).join("");

/** A name always has the same colour. Similar names get colours that are far apart. */
export function hueOf(name: string): number {
  let hash = 0x811c9dc5;
  for (const character of name) hash = Math.imul(hash ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  return (Math.imul(hash, 0x9e3779b1) >>> 0) % 360;
}
