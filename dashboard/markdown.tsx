/**
 * The markdown that agents write, as elements: headings, lists, quotes, code, emphasis, links. There is no HTML in
 * it, so nothing that an agent writes can become anything but text.
 */
import type { ComponentChildren, VNode } from "preact";
import { visible } from "./text.ts";

export function Markdown({ text }: { text: string }): VNode {
  return <div class="markdown">{blocksOf(visible(text).split("\n"))}</div>;
}

function blocksOf(lines: readonly string[]): ComponentChildren[] {
  const blocks: ComponentChildren[] = [];
  for (let at = 0; at < lines.length;) {
    const [block, next] = blockAt(lines, at);
    if (block !== null) blocks.push(block);
    at = next;
  }
  return blocks;
}

type Block = readonly [block: ComponentChildren | null, next: number];

function blockAt(lines: readonly string[], at: number): Block {
  const line = lines[at]!;
  if (line.trim() === "") return [null, at + 1];
  const fence = /^\s*(`{3,}|~{3,})\s*([\w+#.-]*)/.exec(line);
  if (fence) return codeFrom(lines, at, fence[1]!, fence[2]!);
  const heading = /^(#{1,6})\s+(.*)$/.exec(line);
  if (heading)
    return [
      <p dir="auto" class={`heading level-${heading[1]!.length}`} role="heading" aria-level={heading[1]!.length + 2}>
        {inline(heading[2]!)}
      </p>,
      at + 1,
    ];
  if (/^\s*([-*_])(\s*\1){2,}\s*$/.test(line)) return [<hr />, at + 1];
  if (/^\s*>/.test(line)) return run(lines, at, /^\s*>\s?/, (those) => <blockquote>{blocksOf(those)}</blockquote>);
  if (/^\s*[-*+]\s+/.test(line))
    return run(lines, at, /^\s*[-*+]\s+/, (those) => (
      <ul>
        {those.map((one) => (
          <li dir="auto">{inline(one)}</li>
        ))}
      </ul>
    ));
  if (/^\s*\d{1,9}[.)]\s+/.test(line))
    return run(lines, at, /^\s*\d{1,9}[.)]\s+/, (those) => (
      <ol>
        {those.map((one) => (
          <li dir="auto">{inline(one)}</li>
        ))}
      </ol>
    ));
  return paragraphFrom(lines, at);
}

function codeFrom(lines: readonly string[], at: number, fence: string, language: string): Block {
  let end = at + 1;
  while (end < lines.length && !lines[end]!.trim().startsWith(fence)) end++;
  const code = lines.slice(at + 1, end).join("\n");
  return [
    <pre class="code" data-language={language || undefined} tabIndex={0}>
      <code>{code}</code>
    </pre>,
    end + 1,
  ];
}

/** Lines that begin the same way, without that beginning. */
function run(lines: readonly string[], at: number, start: RegExp, draw: (those: string[]) => VNode): Block {
  let end = at;
  while (end < lines.length && start.test(lines[end]!)) end++;
  return [draw(lines.slice(at, end).map((line) => line.replace(start, ""))), end];
}

const startsBlock = /^\s*(`{3,}|~{3,}|>|[-*+]\s|\d{1,9}[.)]\s|#{1,6}\s)/;

function paragraphFrom(lines: readonly string[], at: number): Block {
  let end = at + 1;
  while (end < lines.length && lines[end]!.trim() !== "" && !startsBlock.test(lines[end]!)) end++;
  return [<p dir="auto">{inline(lines.slice(at, end).join("\n"))}</p>, end];
}

const spans = new RegExp(
  [
    /(?<code>`+)(?<inCode>[^]*?[^`])\k<code>(?!`)/,
    /\*\*(?<bold>[^\s*][^*]*)\*\*/,
    /(?<![\w*])\*(?<italic>[^\s*][^*]*)\*(?!\w)/,
    /\[(?<label>[^\]\n]+)\]\((?<href>https?:\/\/[^\s)]+)\)/,
    /(?<url>https?:\/\/[^\s<>"')\]]+)/,
    /(?<![\w@])(?<mention>@[A-Za-z_][\w-]*)/,
  ]
    .map(({ source }) => source)
    .join("|"),
  "g",
);

function inline(text: string): ComponentChildren[] {
  const parts: ComponentChildren[] = [];
  let from = 0;
  for (const match of text.matchAll(spans)) {
    if (match.index > from) parts.push(text.slice(from, match.index));
    parts.push(spanOf(match.groups!, match[0]));
    from = match.index + match[0].length;
  }
  if (from < text.length) parts.push(text.slice(from));
  return parts;
}

function spanOf(
  { inCode, bold, italic, label, href, url, mention }: Record<string, string | undefined>,
  whole: string,
): ComponentChildren {
  if (inCode !== undefined) return <code>{inCode}</code>;
  if (bold !== undefined) return <strong>{inline(bold)}</strong>;
  if (italic !== undefined) return <em>{inline(italic)}</em>;
  // The address is shown beside the label: a label can say anything.
  if (href !== undefined)
    return (
      <a href={href} target="_blank" rel="noopener noreferrer" title={href}>
        {label}
      </a>
    );
  if (url !== undefined)
    return (
      <a href={url} target="_blank" rel="noopener noreferrer">
        {url}
      </a>
    );
  if (mention !== undefined) return <span class="mention">{mention}</span>;
  return whole;
}
