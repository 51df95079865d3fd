import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { Markdown } from "../markdown.tsx";

/** So much is drawn at once: a message may have a megabyte. */
const part = 20_000;

/** What a message says. A long one is shown in parts, cut between lines. */
export function Body({ text, most = part }: { text: string; most?: number }): VNode {
  const shown = useSignal(most);
  if (text.length <= shown.value * 1.2) return <Markdown text={text} />;
  const end = text.lastIndexOf("\n", shown.value);
  const head = text.slice(0, end < shown.value / 2 ? shown.value : end);
  const rest = text.length - head.length;
  const more = (): void => void (shown.value = Math.max(part, shown.value * 4));
  return (
    <div class="long-body">
      <Markdown text={head} />
      <p class="cut">
        <button class="quiet" onClick={more}>
          {rest <= part ? "Show all" : "Show more"}
        </button>
        <span class="muted small">{`${rest.toLocaleString()} more characters`}</span>
      </p>
    </div>
  );
}
