/** What needs the user, one card for each. */
import { useSignal } from "@preact/signals";
import type { ComponentChildren, VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { InboxView, Output, ReceiptView } from "../../src/client/browser.ts";
import { attempt, failureOf, tell } from "../actions.ts";
import { inTeam } from "../api.ts";
import { replyTo } from "../compose/draft.ts";
import { cancel, retry } from "../deliveries.ts";
import { markRead } from "../ownMail.ts";
import { Act } from "../parts/act.tsx";
import { AgentState, Avatar, DeliveryState } from "../parts/badges.tsx";
import { Body } from "../parts/body.tsx";
import { refreshWaiting } from "../refresh.ts";
import { linkTo } from "../route.ts";
import { dismissed, messageByTag, unprovedKey, type AgentCell, type Unproved } from "../state.ts";
import { dedented, plain, visible } from "../text.ts";
import { timeOf } from "../times.ts";

export function Need({
  kind,
  title,
  tag,
  children,
}: {
  kind: string;
  title: string;
  tag?: string;
  children: ComponentChildren;
}): VNode {
  return (
    <article class={`need ${kind}`} data-kind={kind} data-item tabIndex={-1} aria-label={visible(title)}>
      <header>
        <span class="kind">{kind}</span>
        <h2>{visible(title)}</h2>
        {tag !== undefined && (
          <a class="muted small" href={linkTo("messages", tag)}>
            {tag}
          </a>
        )}
      </header>
      {children}
    </article>
  );
}

export const Quote = ({ text }: { text: string }): VNode => <Body text={text} most={1_200} />;

/** What an agent asks, word for word. One click answers exactly this dialog; if it has changed, nothing is pressed. */
export function Asking({ cell }: { cell: AgentCell }): VNode {
  const agent = cell.view.value;
  const dialog = useSignal<Output<"dialog"> | null>(null);
  const failure = useSignal<string | null>(null);
  const busy = useSignal(false);
  const load = (): Promise<void> =>
    inTeam(agent.team)
      .call("dialog", { agent: agent.name })
      .then(
        (found) => void ([dialog.value, failure.value] = [found, null]),
        (thrown: unknown) => void (failure.value = failureOf(thrown).message),
      );
  useEffect(() => void load(), [agent.id, agent.state, agent.reason]);
  async function choose(choice: number, mark: string): Promise<void> {
    busy.value = true;
    await attempt(
      () => inTeam(agent.team).call("choose", { agent: agent.name, choice: String(choice), mark }),
      `${agent.name} was answered`,
    );
    busy.value = false;
    await load();
  }
  return (
    <article
      class="need asks"
      data-kind="dialog"
      data-item
      tabIndex={-1}
      aria-label={`${agent.name} asks`}
      data-agent={agent.name}
    >
      <header>
        <Avatar name={agent.name} />
        <h2>{agent.name}</h2>
        <AgentState agent={agent} />
        <span class="grow" />
        {agent.pane !== null && (
          <a
            class="muted small"
            href={linkTo("terminal", `${agent.team}:${agent.name}`)}
            aria-keyshortcuts="e"
            title="Terminal (e)"
          >
            Terminal
          </a>
        )}
      </header>
      {failure.value === null ? (
        <pre class="screen" tabIndex={0}>
          {visible(dedented(dialog.value?.text ?? "…"))}
        </pre>
      ) : (
        <p class="failure">{failure.value}</p>
      )}
      <p class="actions">
        {dialog.value?.choices.map(({ choice, label }) => (
          <Act
            key={choice}
            class="choice"
            disabled={busy.value}
            aria-keyshortcuts={String(choice)}
            onClick={() => void choose(choice, dialog.value!.mark)}
          >
            <kbd>{choice}</kbd> {visible(label)}
          </Act>
        ))}
      </p>
    </article>
  );
}

type OpenRequest = Output<"requests">[number];
const asked: Record<OpenRequest["kind"], string> = {
  plan_approval_request: "asks you to approve a plan",
  shutdown_request: "asks for a shutdown",
  permission_request: "asks for a permission",
};

/** Answered once: an approval or denial cannot be taken back. */
export function Request({ request: { tag, from, team, kind, text, at } }: { request: OpenRequest }): VNode {
  const words = useSignal("");
  const busy = useSignal(false);
  const answer = async (approve: boolean): Promise<void> => {
    busy.value = true;
    await attempt(
      () =>
        inTeam(team).call("answerRequest", { tag, approve, ...(words.value.trim() !== "" && { text: words.value }) }),
      `${approve ? "Approved" : "Denied"}: ${from} gets your answer`,
    );
    await attempt(refreshWaiting);
    busy.value = false;
  };
  return (
    <Need kind={kind.replace(/_.*/, "")} title={`${from} ${asked[kind]}, ${timeOf(at)}`} tag={tag}>
      {kind === "permission_request" ? (
        <pre class="screen" tabIndex={0}>
          {visible(text)}
        </pre>
      ) : (
        <Quote text={text} />
      )}
      <div class="actions">
        <Act
          class="primary"
          disabled={busy.value}
          aria-keyshortcuts="a"
          title="Approve (a)"
          onClick={() => void answer(true)}
        >
          Approve
        </Act>
        <Act
          class="danger"
          disabled={busy.value}
          aria-keyshortcuts="d"
          title="Deny (d)"
          onClick={() => void answer(false)}
        >
          Deny
        </Act>
        <input
          class="grow"
          aria-label={`Words for ${from}, if any`}
          placeholder="and say (optional)"
          value={words.value}
          onInput={({ currentTarget }) => (words.value = currentTarget.value)}
        />
      </div>
    </Need>
  );
}

const titles: Partial<Record<InboxView["kind"], string>> = { bounce: "has a notice for you" };

export function OwnMail({ mail }: { mail: InboxView }): VNode {
  const { tag, from, kind, text, at } = mail;
  return (
    <Need
      kind={kind === "text" ? "mail" : kind.replaceAll("_", " ")}
      title={`${from} ${titles[kind] ?? "wrote to you"}, ${timeOf(at)}`}
      tag={tag}
    >
      <Quote text={text} />
      <p class="actions">
        {from !== "tieline" && (
          <button aria-keyshortcuts="r" title="Reply (r)" onClick={() => replyTo({ tag, from, team: teamOf(tag) })}>
            Reply
          </button>
        )}
        <Act class="quiet" aria-keyshortcuts="x" title="Mark as read (x)" onClick={() => void markRead(tag)}>
          Mark as read
        </Act>
      </p>
    </Need>
  );
}

/** The team that a message was written in. */
const teamOf = (tag: string): string | null => messageByTag.get(tag)?.receipt.peek().team ?? null;

export function Dead({ receipt }: { receipt: ReceiptView }): VNode {
  const dead = receipt.deliveries.filter(({ state }) => state === "failed" || state === "expired");
  return (
    <Need
      kind="dead letter"
      title={`${receipt.from} → ${dead.map(({ agent }) => agent).join(", ")}: ${receipt.summary}`}
      tag={receipt.tag}
    >
      {dead.map(({ agent, state, reason }) => (
        <p key={agent}>
          <DeliveryState state={state} /> {visible(reason ?? "")}
        </p>
      ))}
      <Decide tag={receipt.tag} team={receipt.team} agent={null} verbs={["retry"]} />
    </Need>
  );
}

/** So many of them are shown; the rest are in the messages. */
const shownUnproved = 3;

export function NoProof({ group: { agent, warning, messages } }: { group: Unproved }): VNode {
  const title = `${messages.length} delivered to ${agent}, not confirmed read`;
  const older = messages.length - shownUnproved;
  return (
    <Need kind="warning" title={title}>
      <p>{visible(warning)}</p>
      <ul class="plain">
        {messages.slice(-shownUnproved).map(({ tag, receipt }) => (
          <li key={tag}>
            <a href={linkTo("messages", tag)}>{plain(receipt.value.summary)}</a>{" "}
            <span class="muted small">{timeOf(receipt.value.acceptedAt)}</span>
          </li>
        ))}
      </ul>
      {older > 0 && <p class="muted small">{`and ${older} before them`}</p>}
      <p class="actions">
        <Dismiss keys={messages.map(({ tag }) => unprovedKey(tag, agent))} isLast />
      </p>
    </Need>
  );
}

const deciding = { retry, cancel };

export function Decide({
  tag,
  team,
  agent,
  verbs,
}: {
  tag: string;
  team: string;
  agent: string | null;
  verbs: readonly ("retry" | "cancel")[];
}): VNode {
  const act = (verb: "retry" | "cancel") => () => void deciding[verb]({ tag, team, agent });
  return (
    <p class="actions">
      {verbs.map((verb) => (
        <Act key={verb} aria-keyshortcuts={verb === "retry" ? "t" : "x"} onClick={act(verb)}>
          {verb === "retry" ? "Retry" : "Cancel"}
        </Act>
      ))}
      <Dismiss keys={[tag]} isLast={!verbs.includes("cancel")} />
    </p>
  );
}

/** Hides it here; what became of the message does not change. */
function Dismiss({ keys, isLast }: { keys: readonly string[]; isLast: boolean }): VNode {
  const dismiss = (): void => {
    dismissed.value = [...dismissed.value, ...keys].slice(-1_000);
    tell("Dismissed", { undo: () => (dismissed.value = dismissed.value.filter((one) => !keys.includes(one))) });
  };
  return (
    <button
      class="quiet"
      aria-keyshortcuts={isLast ? "x" : undefined}
      title={isLast ? "Dismiss (x)" : "Dismiss"}
      onClick={dismiss}
    >
      Dismiss
    </button>
  );
}
