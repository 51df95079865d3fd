/** Ctrl K: agents, messages and actions by a few letters. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { ReceiptView } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { recipientOf } from "../messages.ts";
import { go } from "../route.ts";
import { connection, panel, team } from "../state.ts";
import { plain, visible } from "../text.ts";
import { timeOf } from "../times.ts";
import { actionEntries, agentEntries, find, type Found } from "./entries.ts";

const typingMs = 120;
const leastLetters = 2;
const mostMessages = 8;
/** More letters than that find nothing. */
const longestQuery = 200;

export function PalettePanel(): VNode {
  const query = useSignal("");
  const at = useSignal(0);
  const input = useRef<HTMLInputElement>(null);
  const messages = useMessages(query.value);
  useEffect(() => input.current?.focus(), []);

  const found = [
    ...find(query.value, agentEntries()),
    ...find(query.value, actionEntries(query.value)),
    ...messages.found.map(asFound),
  ];
  const groups = [...new Set(found.map(({ entry }) => entry.group))];
  const chosen = Math.min(at.value, found.length - 1);
  useEffect(() => document.getElementById(`palette-${chosen}`)?.scrollIntoView({ block: "nearest" }), [chosen]);

  function run(one: Found | undefined): void {
    if (one === undefined) return;
    panel.value = null;
    one.entry.run();
  }

  function onKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
    if (step !== undefined && found.length > 0) {
      const next = chosen + step;
      at.value = Math.abs(step) === 1 ? (next + found.length) % found.length : clamp(next, found.length - 1);
    } else if (event.key === "Enter") run(found[chosen]);
    else if (event.key === "Escape") panel.value = null;
    else if (event.key !== "Tab") return;
    event.preventDefault();
    event.stopPropagation();
  }

  return (
    <div class="panel palette" role="dialog" aria-modal="true" aria-label="Go to" tabIndex={-1}>
      <input
        ref={input}
        role="combobox"
        aria-label="Agents, messages and actions"
        aria-expanded={found.length > 0}
        aria-controls="palette-found"
        aria-autocomplete="list"
        {...(found.length > 0 && { "aria-activedescendant": `palette-${chosen}` })}
        autocomplete="off"
        spellcheck={false}
        maxLength={longestQuery}
        placeholder="An agent, a message, an action"
        value={query.value}
        onInput={({ currentTarget }) => ([query.value, at.value] = [currentTarget.value, 0])}
        onKeyDown={onKey}
      />
      <div id="palette-found" class="found" role="listbox" aria-label="Found">
        {groups.map((group) => (
          <div key={group} role="group" aria-label={group}>
            <h3 aria-hidden="true">{group}</h3>
            {found.map((one, index) =>
              one.entry.group === group ? (
                <Option
                  key={one.entry.id}
                  one={one}
                  id={`palette-${index}`}
                  isChosen={index === chosen}
                  onChoose={() => run(one)}
                />
              ) : null,
            )}
          </div>
        ))}
      </div>
      <p class="muted small" role="status">
        {messages.says ?? (found.length === 0 ? "Nothing found." : `${found.length} found`)}
      </p>
    </div>
  );
}

const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, value));

interface OptionProps {
  readonly one: Found;
  readonly id: string;
  readonly isChosen: boolean;
  readonly onChoose: () => void;
}

function Option({ one: { entry, marked }, id, isChosen, onChoose }: OptionProps): VNode {
  return (
    <div
      id={id}
      role="option"
      aria-selected={isChosen}
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span class="label" dir="auto">
        <Marked text={entry.label} at={marked} />
      </span>
      <small>{entry.about}</small>
    </div>
  );
}

/** Runs of letters that matched, and those that did not. */
function Marked({ text, at }: { readonly text: string; readonly at: readonly number[] }): VNode {
  const parts: { text: string; isMarked: boolean }[] = [];
  const marked = new Set(at);
  for (let index = 0; index < text.length; index++) {
    const isMarked = marked.has(index);
    const last = parts.at(-1);
    if (last?.isMarked === isMarked) last.text += text[index];
    else parts.push({ text: text[index]!, isMarked });
  }
  return <>{parts.map((part, index) => (part.isMarked ? <mark key={index}>{part.text}</mark> : part.text))}</>;
}

interface Messages {
  readonly found: readonly ReceiptView[];
  /** Null: nothing more to say. */
  readonly says: string | null;
}

/** The daemon searches the messages, because the page has only some of them. */
function useMessages(query: string): Messages {
  const answer = useSignal<Messages>({ found: [], says: null });
  const words = query.trim();
  const isLive = connection.value === "live";
  useEffect(() => {
    if (words.length < leastLetters || !isLive) {
      answer.value = { found: [], says: words.length < leastLetters ? null : "The daemon is away: no messages." };
      return;
    }
    let isOver = false;
    answer.value = { found: answer.peek().found, says: "Searching messages…" };
    const timer = setTimeout(() => {
      inTeam(team.peek())
        .call("log", { grep: words, limit: mostMessages })
        .then(
          (found) => void (isOver || (answer.value = { found: found.toReversed(), says: null })),
          (thrown: unknown) =>
            void (isOver || (answer.value = { found: [], says: `No messages: ${failureOf(thrown).message}` })),
        );
    }, typingMs);
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [words, isLive]);
  return answer.value;
}

function asFound(receipt: ReceiptView): Found {
  const { tag, from, summary, acceptedAt } = receipt;
  return {
    marked: [],
    entry: {
      id: `message ${tag}`,
      group: "Messages",
      label: plain(visible(summary)) || tag,
      about: `${from} → ${recipientOf(receipt)} · ${timeOf(acceptedAt)}`,
      run: () => go("messages", tag),
    },
  };
}
