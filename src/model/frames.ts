/**
 * The lines that Tieline puts around a message. A body may hold such lines too, by accident or on purpose, and a model
 * would take them for a message of their own: `[MSG_USER_7f3a91c2 from user]`. So inside a body they are quoted.
 */

/** Quotes the lines that look like a frame, and opens no bracket before a tag: what is left looks like no other message. */
export function withoutFrames(text: string): string {
  if (!mayHoldFrame.test(text)) return text;
  return text
    .split(lineBreaks)
    .map((line) => (isFrame(line) ? `> ${line}` : line).replaceAll(opened, "($1"))
    .join("");
}

/** Every character that some reader takes for the end of a line; each stays with the line that it ends. */
const lineBreaks = /(?<=[\n\v\f\r\u0085\u2028\u2029])/;

/** A first, cheap look: the letters of MSG, or any that could pass for them. */
const mayHoldFrame = /m.{0,4}s.{0,4}g|[^\x00-\x7f]/i;

const opened = /\[(\W{0,4}(?:end\W{1,4})?MSG_)/gi;

/** Brackets, and what stands around them; then a tag, or the end of one. A line that is quoted already is none. */
const bracketed = /^[^\p{L}\p{N}>]*[[【〔〖〚⟦⟨「『(][^\p{L}\p{N}]*(?:end[^\p{L}\p{N}]+)?MSG_/iu;
const tagged = /^[^\p{L}\p{N}>]*(?:end[^\p{L}\p{N}]+)?MSG_\w+_[0-9a-f]{8}(?!\w)/iu;

function isFrame(line: string): boolean {
  const shown = asSeen(line);
  return bracketed.test(shown) || tagged.test(shown);
}

/** As a reader sees it: without what has no width, and with letters of other scripts as those that they look like. */
function asSeen(line: string): string {
  const plain = line.normalize("NFKD").replaceAll(/[\p{Default_Ignorable_Code_Point}\p{M}\p{Cc}]/gu, "");
  return plain.replaceAll(/[^\x00-\x7f]/gu, (letter) => lookAlikes[letter] ?? letter);
}

const lookAlikes: Readonly<Record<string, string>> = {
  ...{ М: "M", м: "m", Μ: "M", Ϻ: "M", Ѕ: "S", ѕ: "s", Տ: "S", Ԍ: "G", ԍ: "g", ɡ: "g", ɢ: "G", Ɠ: "G", ᴍ: "M", ꜱ: "S" },
  ...{ Е: "E", е: "e", Ε: "E", Ν: "N", ո: "n", ɴ: "N", Ԁ: "D", ԁ: "d", ᴅ: "D", ᴇ: "E", "∗": "*", "‗": "_", "ˍ": "_" },
};
