/**
 * Text of agents, users and programs, made safe to look at. Control characters would steer a terminal; characters that
 * reorder text or have no width would hide what it says. Both are shown by name, the same on every terminal and page.
 */
const hidden = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufff9-\ufffb\p{Default_Ignorable_Code_Point}]/gu;

/** Newlines and tabs stay; everything else that steers, reorders or hides is shown by name. */
export function visible(text: string): string {
  return text.replaceAll(hidden, (character, at: number) =>
    isPartOfLetter(character, text, at) ? character : nameOf(character),
  );
}

/** The same as one line, whatever it holds: nothing in it can begin a line of its own. */
export function oneLine(text: string): string {
  // Whole runs of whitespace, because a pattern for those with a newline would try every start within a run.
  const joined = text.replaceAll(/\s+/g, (space) => (/[\r\n]/.test(space) ? " ⏎ " : space));
  return visible(joined.replaceAll("\t", " "));
}

/**
 * In Unicode's composed form (NFC). A letter with more marks than any script uses is left as it is, because
 * normalisation sorts a run of marks in quadratic time.
 */
export function composed(text: string): string {
  return text
    .split(manyMarks)
    .map((part, index) => (index % 2 === 0 ? part.normalize("NFC") : part))
    .join("");
}

const manyMarks = /(\p{M}{31,})/u;

/** The same lines, each of which is safe to print; a lone carriage return begins no line. */
export const linesOf = (text: string): string[] => text.split(/\r?\n/);

/** Escapes characters that JSON may hold raw, for display: to a parser it is the same text. */
export function visibleJson(json: string): string {
  return json.replaceAll(hidden, (character, at: number) =>
    isPartOfLetter(character, json, at) ? character : escapeOf(character),
  );
}

/** Some are part of how emoji and whole scripts are written; between other characters they only hide. */
function isPartOfLetter(character: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 2), at);
  const after = text.slice(at + character.length, at + character.length + 2);
  switch (character) {
    case "\ufe0e":
    case "\ufe0f":
      return /\p{Emoji}$/u.test(before);
    case "\u200d":
      return (
        (/[\p{Extended_Pictographic}\p{Emoji_Modifier}\ufe0f]$/u.test(before) &&
          /^\p{Extended_Pictographic}/u.test(after)) ||
        joins(before, after)
      );
    case "\u200c":
      return joins(before, after);
    default:
      return character >= "\u{e0100}" && character <= "\u{e01ef}" && /\p{Script=Han}$/u.test(before);
  }
}

/** Scripts whose letters change their form beside a joiner or a non-joiner. */
const scripts =
  "Arabic Syriac Devanagari Bengali Gurmukhi Gujarati Oriya Tamil Telugu Kannada Malayalam Sinhala Khmer Myanmar";

const joiningLetter = `[${scripts.replaceAll(/\w+ ?/g, (script) => `\\p{Script=${script.trim()}}`)}]`;
const endsJoining = new RegExp(`${joiningLetter}$`, "u");
const beginsJoining = new RegExp(`^${joiningLetter}`, "u");

function joins(before: string, after: string): boolean {
  return endsJoining.test(before) && beginsJoining.test(after);
}

function nameOf(character: string): string {
  const code = character.codePointAt(0)!;
  if (code < 0x20) return String.fromCodePoint(0x2400 + code);
  if (code === 0x7f) return "␡";
  return `⟨U+${code.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

const escapeOf = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, "0")}`,
  ).join("");
