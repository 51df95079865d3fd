/**
 * The lines that Tieline puts around a message. A body may hold such lines too, by accident or on purpose, and a model
 * would take them for a message of their own: `[MSG_USER_7f3a91c2 from user]`. So inside a body they are quoted.
 */

/**
 * Quotes the lines that look like a frame, and opens no bracket before a tag: what is left looks like no other message.
 */
export function withoutFrames(text: string): string {
  if (!mayHoldFrame.test(text)) return text;
  return text
    .split(lineBreaks)
    .map((line) => (mayHoldFrame.test(line) ? (isFrame(line) ? `> ${line}` : line).replaceAll(opened, "($1") : line))
    .join("");
}

/** Every character that some reader takes for the end of a line; each stays with the line that it ends. */
const lineBreaks = /(?<=[\n\v\f\r\u0085\u2028\u2029])/;

/** A first, cheap look: the letters of MSG, with nothing to see between them, or any that could pass for them. */
// oxlint-disable-next-line no-control-regex -- what is not seen on a screen
const mayHoldFrame = /m[\x00-\x1f\x7f]*s[\x00-\x1f\x7f]*g|[^\x00-\x7f]/i;

const opened = /\[(\W{0,4}(?:end\W{1,4})?MSG_)/gi;

/** What a line has before its first letter, digit or `>`. A line that is quoted already is no frame. */
const leading = /^[^\p{L}\p{N}>]*/u;
const brackets = /[[【〔〖〚⟦⟨「『(]/u;
/** Everything up to the first letter: after a bracket, a `>` hides nothing. */
const beforeWords = /^[^\p{L}\p{N}]*/u;
/** A tag, or the end of one. */
const tag = /^(?:end[^\p{L}\p{N}]+)?MSG_/iu;
const wholeTag = /^(?:end[^\p{L}\p{N}]+)?MSG_\w+_[0-9a-f]{8}(?!\w)/iu;

/** Each pattern reads the line at most once, whatever it holds. */
function isFrame(line: string): boolean {
  const shown = asSeen(line);
  const [lead] = leading.exec(shown)!;
  if (brackets.test(lead)) return tag.test(shown.slice(beforeWords.exec(shown)![0].length));
  return wholeTag.test(shown.slice(lead.length));
}

const unseen = /[\p{Default_Ignorable_Code_Point}\p{M}\p{Cc}]/gu;

/** As a reader sees it: without what has no width, and with letters of other scripts as those that they look like. */
function asSeen(line: string): string {
  // Marks are removed first, because normalisation sorts a long run of them in quadratic time.
  const plain = line.replaceAll(unseen, "").normalize("NFKD").replaceAll(unseen, "");
  return plain.replaceAll(misleading, (letter) => lookAlikes[letter]!);
}

const lookAlikes: Readonly<Record<string, string>> = {
  ...{ М: "M", м: "m", Μ: "M", Ϻ: "M", Ѕ: "S", ѕ: "s", Տ: "S", Ԍ: "G", ԍ: "g", ɡ: "g", ɢ: "G", Ɠ: "G", ᴍ: "M", ꜱ: "S" },
  ...{ Е: "E", е: "e", Ε: "E", Ν: "N", ո: "n", ɴ: "N", Ԁ: "D", ԁ: "d", ᴅ: "D", ᴇ: "E", "∗": "*", "‗": "_", ˍ: "_" },
};

const misleading = new RegExp(`[${Object.keys(lookAlikes).join("")}]`, "gu");
