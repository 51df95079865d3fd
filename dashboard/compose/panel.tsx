import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { inTeam } from "../api.ts";
import { failureOf, isUnknown, tell } from "../actions.ts";
import { cellOf, mergeReceipts } from "../messages.ts";
import { DeliveryState } from "../parts/badges.tsx";
import { Act } from "../parts/act.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { linkTo } from "../route.ts";
import { actingTeam, agents, isAway, messageByTag } from "../state.ts";
import { Options, Recipient, suggestionsFor } from "./completion.tsx";
import { refreshWaiting, soon } from "../refresh.ts";
import { change, draft, emptyDraft, sent, type Replaced } from "./draft.ts";

const largestFile = 512 * 1024;
const lifetimes = { "": "keeps waiting", "600000": "10 minutes", "3600000": "1 hour", "86400000": "1 day" } as const;

export function ComposePanel(): VNode {
  const { to, body, when, ttl, replyTo, replaces } = draft.value;
  const busy = useSignal(false);
  const failure = useSignal<{ message: string; remedy: string | null } | null>(null);
  const text = useRef<HTMLTextAreaElement>(null);
  useEffect(() => (to === "" ? document.getElementById("compose-to") : text.current)?.focus(), []);

  async function submit(event?: Event): Promise<void> {
    event?.preventDefault();
    if (busy.value) return;
    if (isAway.value) {
      failure.value = { message: "The daemon is away; nothing was sent", remedy: "the draft is kept until it is back" };
      return;
    }
    const missing = to.trim() === "" ? "to" : body.trim() === "" ? "text" : null;
    if (missing !== null) {
      failure.value = {
        message: missing === "to" ? "Choose a recipient first" : "Write a message first",
        remedy: missing === "to" ? "a name, team:name, or @all for all agents" : null,
      };
      return (missing === "to" ? document.getElementById("compose-to") : text.current)?.focus();
    }
    busy.value = true;
    failure.value = null;
    try {
      await send();
      draft.value = emptyDraft();
      text.current?.focus();
    } catch (thrown) {
      failure.value = isUnknown(thrown)
        ? {
            message: "The connection was lost: it is not known whether the message was sent",
            remedy: "send it again once the daemon is back; it arrives only once",
          }
        : failureOf(thrown);
    } finally {
      busy.value = false;
    }
  }

  return (
    <Dialog
      kind="compose"
      label="Write a message"
      title={replyTo === null ? "New message" : `Reply to ${replyTo}`}
      close="Close; the draft is kept"
    >
      <form
        noValidate
        onSubmit={submit}
        onKeyDown={(event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && void submit(event)}
      >
        <div class="field">
          <label for="compose-to">To</label>
          <Recipient value={to} onChange={(value) => change({ to: value, team: null, replyTo: null })} />
        </div>
        {replaces && <Replacing replaces={replaces} />}
        <Body text={text} />
        {failure.value !== null && (
          <div class="failure" role="alert">
            <strong>{failure.value.message}</strong>
            <p>{failure.value.remedy}</p>
          </div>
        )}
        <footer>
          <label class="inline">
            <span>When</span>
            <select value={when} onChange={({ currentTarget }) => change({ when: currentTarget.value as typeof when })}>
              <option value="turn">when it is idle</option>
              <option value="tool">after its current tool</option>
              <option value="interrupt">before its next tool</option>
            </select>
          </label>
          <label class="inline">
            <span>Expires</span>
            <select value={ttl} onChange={({ currentTarget }) => change({ ttl: currentTarget.value })}>
              {Object.entries(lifetimes).map(([ms, word]) => (
                <option key={ms} value={ms}>
                  {word}
                </option>
              ))}
            </select>
          </label>
          <label class="button file">
            Attach text
            <input
              type="file"
              accept="text/*,.md,.json,.yaml,.yml,.ts,.js,.py,.log,.diff,.patch"
              onChange={({ currentTarget }) => void attach(currentTarget)}
            />
          </label>
          <span class="grow" />
          <Act class="primary" type="submit" disabled={busy.value} title="Ctrl+Enter">
            {busy.value ? "Sending…" : "Send"}
          </Act>
        </footer>
        <Receipts />
      </form>
    </Dialog>
  );
}

/** The words, with names offered after an @. */
function Body({ text }: { text: { current: HTMLTextAreaElement | null } }): VNode {
  const mention = useSignal<string | null>(null);
  const at = useSignal(0);
  const options =
    mention.value === null ? [] : suggestionsFor(mention.value).filter(({ value }) => /^[\w:-]+$/.test(value));
  const before = (): string => text.current!.value.slice(0, text.current!.selectionStart);
  function insert(value: string): void {
    const head = before().replace(/@[\w-]*$/, `@${value.split(":").at(-1)} `);
    change({ body: head + text.current!.value.slice(text.current!.selectionStart) });
    mention.value = null;
    requestAnimationFrame(() => text.current?.setSelectionRange(head.length, head.length));
  }
  function onKey(event: KeyboardEvent): void {
    if (options.length === 0) return;
    if (event.key === "ArrowDown" || event.key === "ArrowUp")
      at.value = (at.value + (event.key === "ArrowDown" ? 1 : options.length - 1)) % options.length;
    else if (event.key === "Enter" || event.key === "Tab") insert(options[at.value]!.value);
    else if (event.key === "Escape") mention.value = null;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  return (
    <div class="completion">
      <textarea
        ref={text}
        aria-label="Message"
        dir="auto"
        placeholder="Markdown is fine. Ctrl+Enter sends."
        rows={8}
        value={draft.value.body}
        onInput={({ currentTarget }) => {
          change({ body: currentTarget.value });
          mention.value = /(?:^|\s)@([\w-]*)$/.exec(before())?.[1] ?? null;
          at.value = 0;
        }}
        onKeyDown={onKey}
      />
      {options.length > 0 && (
        <Options options={options} at={at.value} pick={({ value }) => insert(value)} id="compose-mentions" />
      )}
    </div>
  );
}

function Replacing({ replaces: { tag, agent } }: { replaces: Replaced }): VNode {
  return (
    <p class="hint" role="status">
      <span>
        Replaces <code>{tag}</code>, which stays queued for {agent} until you send this.
      </span>
      <button type="button" class="quiet" onClick={() => change({ replaces: null })}>
        Keep both
      </button>
    </p>
  );
}

async function send(): Promise<void> {
  const { to, team, body, when, ttl, replyTo, replaces, key } = draft.value;
  const words = { body, when, key, ...(ttl !== "" && { ttlMs: Number(ttl) }) };
  const client = inTeam(team ?? teamNamed(to) ?? actingTeam.value);
  const receipt =
    replyTo === null
      ? await client.call("send", { to, ...words })
      : await client.call("reply", { tag: replyTo, ...words });
  mergeReceipts([receipt]);
  sent.value = [...sent.value.slice(-2), receipt.tag];
  if (receipt.notice !== undefined) tell(receipt.notice);
  if (replaces) await cancelReplaced(replaces);
  for (const { agent, message } of receipt.failed ?? []) tell(`${agent}: ${message}`, { bad: true });
}

/** The new message is on its way whatever becomes of the old one, so a failure here is said and is none of sending. */
async function cancelReplaced({ tag, agent, team }: Replaced): Promise<void> {
  try {
    mergeReceipts([await inTeam(team).call("cancel", { tag, agent })]);
    tell(`Sent, and cancelled ${tag}`);
  } catch (thrown) {
    tell(`Sent, but ${tag} was not cancelled: ${failureOf(thrown).message}`, {
      bad: true,
      remedy: `${agent} may get both messages`,
    });
  }
  soon(refreshWaiting);
}

/** The team of an address, or of a name that only one team has. */
function teamNamed(to: string): string | null {
  const those = agents.value
    .map(({ view }) => view.value)
    .filter(({ name, team }) => name === to || `${team}:${name}` === to);
  return those.length === 1 ? those[0]!.team : null;
}

async function attach(input: HTMLInputElement): Promise<void> {
  const file = input.files?.[0];
  input.value = "";
  if (file === undefined) return;
  if (file.size > largestFile)
    return tell(`${file.name} is longer than 512 kB`, { bad: true, remedy: "send the path of the file instead" });
  const content = await file.text();
  if (content.includes("\0"))
    return tell(`${file.name} is not text`, { bad: true, remedy: "send the path of the file instead" });
  const { body } = draft.value;
  change({ body: `${body}${body === "" ? "" : "\n\n"}${file.name}:\n\`\`\`\n${content.trimEnd()}\n\`\`\`\n` });
}

/** What became of what was just sent, as it happens. */
function Receipts(): VNode | null {
  const cells = sent.value.flatMap((tag) => messageByTag.get(tag) ?? []);
  if (cells.length === 0) return null;
  return (
    <div class="receipts" role="status" aria-label="Sent from here">
      {cells.map((cell) => {
        const { tag, deliveries } = cellOf(cell.receipt.value).receipt.value;
        return deliveries.map(({ agent, state, reason }) => (
          <a key={`${tag} ${agent}`} href={linkTo("messages", tag)} data-tag={tag} data-state={state}>
            <span>{agent}</span>
            <DeliveryState state={state} />
            {state === "queued" && reason !== null ? <small>{reason}</small> : null}
          </a>
        ));
      })}
    </div>
  );
}
