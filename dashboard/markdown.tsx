/**
 * The markdown that agents write, as elements: headings, lists, tasks, tables, quotes, code, emphasis, links. There is
 * no HTML in it, so nothing that an agent writes can become anything but text.
 */
import type { ComponentChildren, VNode } from "preact";
import { Code } from "./code/code.tsx";
import { isDiff } from "./code/diff.ts";
import { visible } from "./text.ts";

export function Markdown({ text }: { text: string }): VNode {
  const shown = visible(text);
  return (
    <div class="markdown">{isDiff(shown) ? <Code language="diff" text={shown} /> : blocksOf(shown.split("\n"))}</div>
  );
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
          <Item text={one} />
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
  if (isTable(lines, at)) return tableFrom(lines, at);
  return paragraphFrom(lines, at);
}

/** A point of a list, or a task with its state. */
function Item({ text }: { text: string }): VNode {
  const task = /^\[([ xX])\]\s+(.*)$/s.exec(text);
  if (task === null) return <li dir="auto">{inline(text)}</li>;
  const isDone = task[1] !== " ";
  return (
    <li dir="auto" class={`task ${isDone ? "done" : ""}`}>
      <span class="box" role="img" aria-label={isDone ? "done" : "to do"} />
      <span>{inline(task[2]!)}</span>
    </li>
  );
}

const delimiter = /^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$/;
const mostColumns = 30;

const isTable = (lines: readonly string[], at: number): boolean =>
  lines[at]!.includes("|") &&
  lines[at + 1] !== undefined &&
  lines[at + 1]!.length < 2_000 &&
  lines[at + 1]!.includes("-") &&
  delimiter.test(lines[at + 1]!) &&
  cellsOf(lines[at]!).length === cellsOf(lines[at + 1]!).length;

/** A bar behind a backslash is text. */
const cellsOf = (line: string): string[] =>
  line
    .trim()
    .replace(/^\||(?<!\\)\|$/g, "")
    .split(/(?<!\\)\|/)
    .slice(0, mostColumns)
    .map((cell) => cell.trim().replaceAll("\\|", "|"));

function tableFrom(lines: readonly string[], at: number): Block {
  let end = at + 2;
  while (end < lines.length && lines[end]!.includes("|") && lines[end]!.trim() !== "") end++;
  const sides = cellsOf(lines[at + 1]!).map((cell) =>
    /^:-+:$/.test(cell) ? "center" : cell.endsWith("-:") ? "right" : undefined,
  );
  const head = cellsOf(lines[at]!);
  const rows = lines.slice(at + 2, end).map(cellsOf);
  return [
    <div class="table" tabIndex={0} role="region" aria-label="Table">
      <table>
        <thead>
          <tr>
            {head.map((cell, column) => (
              <th scope="col" dir="auto" class={sides[column]}>
                {inline(cell)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((cells) => (
            <tr>
              {head.map((_, column) => (
                <td dir="auto" class={sides[column]}>
                  {inline(cells[column] ?? "")}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>,
    end,
  ];
}

function codeFrom(lines: readonly string[], at: number, fence: string, language: string): Block {
  let end = at + 1;
  while (end < lines.length && !lines[end]!.trim().startsWith(fence)) end++;
  const code = lines.slice(at + 1, end).join("\n");
  return [<Code language={language} text={code} />, end + 1];
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
  while (end < lines.length && lines[end]!.trim() !== "" && !startsBlock.test(lines[end]!) && !isTable(lines, end))
    end++;
  return [<p dir="auto">{inline(lines.slice(at, end).join("\n"))}</p>, end];
}

const spans = new RegExp(
  [
    /(?<code>`+)(?<inCode>[^]*?[^`])\k<code>(?!`)/,
    /~~(?<struck>[^\s~][^~]*)~~/,
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
  { inCode, struck, bold, italic, label, href, url, mention }: Record<string, string | undefined>,
  whole: string,
): ComponentChildren {
  if (inCode !== undefined) return <code>{inCode}</code>;
  if (struck !== undefined) return <del>{inline(struck)}</del>;
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
