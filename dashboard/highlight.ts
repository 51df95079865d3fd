/** Marks the words of a search in what is shown, as the browser marks a selection: the elements stay as they are. */
import { effect, type ReadonlySignal } from "@preact/signals";

const name = "search";
/** So many places are marked at most; a common word in a long text has more. */
const mostRanges = 2_000;

/** Keeps the marks right while the words and the content of the element change, until the answer is called. */
export function highlight(element: HTMLElement, words: ReadonlySignal<string>): () => void {
  // Browsers without highlights show the same text without marks.
  if (!("highlights" in CSS)) return () => undefined;
  let frame = 0;
  const mark = (): void => {
    frame = 0;
    const pattern = patternOf(words.peek());
    if (pattern === null) CSS.highlights.delete(name);
    else CSS.highlights.set(name, new Highlight(...rangesIn(element, pattern)));
  };
  const soon = (): void => void (frame ||= requestAnimationFrame(mark));
  const stop = effect(() => {
    void words.value;
    soon();
  });
  const observer = new MutationObserver(soon);
  observer.observe(element, { childList: true, subtree: true, characterData: true });
  return () => {
    stop();
    observer.disconnect();
    cancelAnimationFrame(frame);
    CSS.highlights.delete(name);
  };
}

/** Words and "quoted phrases" as the daemon finds them: whole, unless a `*` follows. */
export function patternOf(query: string): RegExp | null {
  const phrases = (query.match(/"[^"]*"\*?|[^\s"]+/g) ?? []).flatMap((text) => {
    const parts = text.match(/[\p{L}\p{N}]+/gu);
    return parts === null ? [] : [`${parts.join("[^\\p{L}\\p{N}]+")}${text.endsWith("*") ? "" : "(?![\\p{L}\\p{N}])"}`];
  });
  return phrases.length === 0 ? null : new RegExp(`(?<![\\p{L}\\p{N}])(?:${phrases.join("|")})`, "giu");
}

function rangesIn(element: HTMLElement, pattern: RegExp): Range[] {
  const ranges: Range[] = [];
  const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT, (node) =>
    node.parentElement?.closest(".summary, .markdown, .letter") ? NodeFilter.FILTER_ACCEPT : NodeFilter.FILTER_REJECT,
  );
  for (let node = walker.nextNode(); node !== null && ranges.length < mostRanges; node = walker.nextNode()) {
    for (const { index, 0: found } of node.nodeValue!.matchAll(pattern)) {
      const range = new Range();
      range.setStart(node, index);
      range.setEnd(node, index + found.length);
      if (ranges.push(range) >= mostRanges) break;
    }
  }
  return ranges;
}
