import { signal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { kindOf } from "./diff.ts";
import type { highlight } from "./highlight.ts";

/** Longer code is shown without colours. */
const mostHighlighted = 40_000;

/** Loaded when code is shown for the first time; until then, and if it cannot be loaded, code has no colours. */
const highlighter = signal<typeof highlight | null>(null);
let isLoading = false;

function load(): void {
  if (isLoading) return;
  isLoading = true;
  import("./highlight.ts").then(
    (loaded) => (highlighter.value = loaded.highlight),
    () => (isLoading = false),
  );
}

export function Code({ language, text }: { language: string; text: string }): VNode {
  return (
    <pre class="code" data-language={language || undefined} tabIndex={0} role="region" aria-label={labelOf(language)}>
      <code>{contentOf(language.toLowerCase(), text)}</code>
    </pre>
  );
}

const labelOf = (language: string): string => (language === "" ? "Code" : `Code, ${language}`);

function contentOf(language: string, text: string): ComponentChildren {
  if (text.length > mostHighlighted || language === "") return text;
  if (language === "diff" || language === "patch") return <Diff text={text} />;
  load();
  return highlighter.value?.(text, language) ?? text;
}

function Diff({ text }: { text: string }): VNode {
  return (
    <span class="diff">
      {text.split("\n").map((line) => (
        <span class={`diff-line diff-${kindOf(line) ?? "same"}`}>{line}</span>
      ))}
    </span>
  );
}
