/** "1 message", "3 messages". */
export const counted = (count: number, noun: string, plural = `${noun}s`): string =>
  `${count} ${count === 1 ? noun : plural}`;

const shown = 20;

/** The first of many tags, behind what they are. */
export const named = (tags: readonly string[]): string =>
  tags.length === 0 ? "" : `: ${tags.slice(0, shown).join(" ")}${tags.length > shown ? " …" : ""}`;

/** What to do with messages that a restore or a repair made uncertain. */
export const uncertainRemedy = (tags: readonly string[]): string[] =>
  tags.length === 0
    ? []
    : ["  `tieline status TAG` shows what is known; then `tieline retry TAG` or `tieline cancel TAG`"];
