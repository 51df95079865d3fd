/** One line for lists. */
export const maxSummaryLength = 120;

const diffStart = /^(diff --git |Index: |--- [^\n]*\n\+\+\+ )/;

/** The first line of a text. Text that is only code: its first line. Text that is only a diff: what it changes. */
export function summarise(body: string): string {
  const text = body.trim();
  const first = text.split("\n", 1)[0]!;
  const language = fenceOf(first);
  const inner = language === null ? text : withoutEnd(text.slice(first.length + 1));
  const isDiff = (language === "diff" || language === "patch" || diffStart.test(inner)) && /^[+-]/m.test(inner);
  if (isDiff) return shortened(diffSummary(inner));
  return shortened(language === null ? first : (firstLine(inner) ?? first));
}

/** The language of the code that begins with this line; null: none does. */
function fenceOf(line: string): string | null {
  return line.length > 100 ? null : (/^(?:`{3,}|~{3,}) *([\w+#.-]*)$/.exec(line.trim())?.[1] ?? null);
}

function withoutEnd(code: string): string {
  const last = code.lastIndexOf("\n");
  return fenceOf(code.slice(last + 1)) === "" ? code.slice(0, Math.max(0, last)) : code;
}

const firstLine = (text: string): string | null => text.split("\n").find((line) => line.trim() !== "") ?? null;

function diffSummary(diff: string): string {
  const files = new Set<string>();
  let [added, removed] = [0, 0];
  for (const line of diff.split("\n")) {
    const file = /^(?:\+\+\+|---) (?:[ab]\/)?([^\t]+)/.exec(line)?.[1]?.trim();
    if (file !== undefined) {
      if (file !== "/dev/null") files.add(file);
    } else if (line.startsWith("+")) added++;
    else if (line.startsWith("-")) removed++;
  }
  const names = [...files].map((file) => file.replace(/^.*\//, ""));
  const of = names.length === 0 ? "" : names.length === 1 ? ` of ${names[0]}` : ` of ${names.length} files`;
  return `diff${of} (+${added} −${removed})${names.length > 1 ? `: ${names.join(", ")}` : ""}`;
}

function shortened(line: string): string {
  const characters = [...line.replaceAll(/\s+/g, " ").trimEnd()];
  return characters.length <= maxSummaryLength
    ? characters.join("")
    : `${characters.slice(0, maxSummaryLength - 1).join("")}…`;
}
