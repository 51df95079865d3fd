import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { attempt } from "../actions.ts";
import { Act } from "../parts/act.tsx";
import { refreshWaiting } from "../refresh.ts";
import { connection } from "../state.ts";
import { runAll, those, type Result, type Selected, type Verb } from "./run.ts";
import type { Selection } from "./selection.ts";

export interface BulkBarProps {
  /** Everything that could be selected now. */
  readonly rows: readonly Selected[];
  readonly selection: Selection;
}

const counted = (count: number): string => (count === 1 ? "1 message" : `${count.toLocaleString()} messages`);

const words: Record<Verb, { readonly label: string; readonly done: string; says(count: number): string }> = {
  cancel: {
    label: "Cancel",
    done: "cancelled",
    says: (count) =>
      `${counted(count)} will not be delivered. ` +
      (count === 1 ? "Undo queues it again, with the same tag." : "Undo queues them again, with the same tags."),
  },
  retry: {
    label: "Retry",
    done: "queued again",
    says: (count) =>
      `${counted(count)} will be queued again. One that is uncertain may have arrived before, so it can come twice.`,
  },
};

/** What can be done to the selected messages, what will happen, and afterwards what became of each. */
export function BulkBar({ rows, selection }: BulkBarProps): VNode | null {
  const asked = useSignal<Verb | null>(null);
  const progress = useSignal<{ readonly done: number; readonly of: number } | null>(null);
  const report = useSignal<{ readonly verb: Verb; readonly results: readonly Result[] } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const selected = rows.filter(({ key }) => selection.has(key));
  useEffect(() => {
    if (asked.value !== null) box.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, [asked.value]);
  if (selected.length === 0 && report.value === null && progress.value === null) return null;

  async function run(verb: Verb, messages: readonly Selected[]): Promise<void> {
    asked.value = report.value = null;
    progress.value = { done: 0, of: messages.length };
    const results = await runAll(
      verb,
      messages,
      () => (progress.value = { done: (progress.peek()?.done ?? 0) + 1, of: messages.length }),
    );
    progress.value = null;
    report.value = { verb, results };
    selection.set(results.filter(({ outcome }) => outcome !== "done").map(({ message }) => message.key));
    if (connection.peek() === "live") await attempt(refreshWaiting);
  }

  return (
    <div
      class="bulk"
      role="group"
      aria-label="Selected messages"
      ref={box}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.stopPropagation();
        if (asked.value === null) selection.clear();
        asked.value = report.value = null;
      }}
    >
      <p class="actions">
        <strong role="status">
          {progress.value === null
            ? `${selected.length.toLocaleString()} selected`
            : `${progress.value.done} of ${progress.value.of} done…`}
        </strong>
        {(["cancel", "retry"] as const).map((verb) => {
          const able = those(verb, selected);
          return able.length === 0 ? null : (
            <Act key={verb} disabled={progress.value !== null} onClick={() => (asked.value = verb)}>
              {`${words[verb].label} ${able.length.toLocaleString()}…`}
            </Act>
          );
        })}
        <button
          class="quiet"
          onClick={() => {
            selection.clear();
            asked.value = report.value = null;
          }}
        >
          Clear
        </button>
      </p>
      {asked.value !== null && (
        <div class="confirm">
          <p>{words[asked.value].says(those(asked.value, selected).length)}</p>
          <p class="actions">
            <Act
              data-first
              class={asked.value === "cancel" ? "danger asks" : "primary"}
              onClick={() => void run(asked.value!, those(asked.value!, selected))}
            >
              {`${words[asked.value].label} ${counted(those(asked.value, selected).length)}`}
            </Act>
            <button onClick={() => (asked.value = null)}>Back</button>
          </p>
        </div>
      )}
      {report.value !== null && <Report {...report.value} onUndo={(messages) => void run("retry", messages)} />}
    </div>
  );
}

interface ReportProps {
  readonly verb: Verb;
  readonly results: readonly Result[];
  readonly onUndo: (messages: readonly Selected[]) => void;
}

const mostListed = 100;

function Report({ verb, results, onUndo }: ReportProps): VNode {
  const done = results.filter(({ outcome }) => outcome === "done");
  const others = results.filter(({ outcome }) => outcome !== "done");
  return (
    <div class="report" role="status" aria-label="What became of them">
      <p class="actions">
        <span>
          {`${counted(done.length)} ${words[verb].done}.`}
          {others.length === 0 ? "" : ` ${counted(others.length)} not:`}
        </span>
        {verb === "cancel" && done.length > 0 && (
          <Act class="quiet undo" onClick={() => onUndo(done.map(({ message }) => message))}>
            Undo
          </Act>
        )}
      </p>
      {others.length > 0 && (
        <ul>
          {others.slice(0, mostListed).map(({ message: { key, tag, agent }, outcome, detail }) => (
            <li key={key} data-outcome={outcome}>
              <code>{tag}</code> {agent === null ? "" : `to ${agent}`}:{" "}
              {outcome === "not known" ? `not known whether it was ${words[verb].done}` : outcome}, {detail}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
