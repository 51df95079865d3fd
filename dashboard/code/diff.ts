/** Whether a whole text is a diff, without a fence around it. */
export const isDiff = (text: string): boolean =>
  /^(diff --git |Index: |--- (a\/|\S+\n\+\+\+ ))/.test(text) && /^@@ /m.test(text.slice(0, 4_000));

/** What a line of a diff is; the text stays as it is. */
export function kindOf(line: string): "added" | "removed" | "place" | "file" | null {
  if (/^(diff |index |--- |\+\+\+ |Index: |new file|deleted file|rename |similarity )/.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return null;
}
