/** One list of everything that needs a user. What is new comes at its end, so that nothing moves under the pointer. */
import { computed, useSignal, type Signal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { badges, notifies, notifyProblem, setNotifies } from "../notify.ts";
import { markAllRead } from "../ownMail.ts";
import { Act } from "../parts/act.tsx";
import { linkTo } from "../route.ts";
import {
  asking,
  deadCount,
  deadLetters,
  isSettled,
  liveDead,
  longHeld,
  now,
  openMail,
  requests,
  team,
  uncertain,
  unproved,
  waitingCount,
  type AgentCell,
} from "../state.ts";
import { visible } from "../text.ts";
import { span } from "../times.ts";
import { Asking, Dead, Decide, Need, NoProof, OwnMail, Quote, Request } from "../waiting/needs.tsx";
import { inOrder } from "../waiting/order.ts";

interface Entry {
  readonly key: string;
  readonly draw: () => VNode;
}

/** The most urgent first. */
const entries = computed((): readonly Entry[] => [
  ...asking.value.map((cell) => ({ key: cell.id, draw: () => <Asking cell={cell} /> })),
  ...requests.value.map((request) => ({ key: request.tag, draw: () => <Request request={request} /> })),
  ...openMail.value.map((mail) => ({ key: mail.tag, draw: () => <OwnMail mail={mail} /> })),
  ...uncertain.value.map(({ tag, agent, body, team: of }) => ({
    key: `uncertain ${tag} ${agent}`,
    draw: () => (
      <Need kind="uncertain" title={`It is not certain that ${agent} got this`} tag={tag}>
        <Quote text={body} />
        <Decide tag={tag} team={of} agent={agent} verbs={["retry", "cancel"]} />
      </Need>
    ),
  })),
  ...liveDead.value.map((receipt) => ({ key: `dead ${receipt.tag}`, draw: () => <Dead receipt={receipt} /> })),
  ...unproved.value.map((group) => ({
    key: `unproved ${group.team}:${group.agent} ${group.warning}`,
    draw: () => <NoProof group={group} />,
  })),
  ...longHeld.value.map((cell) => ({ key: `held ${cell.id}`, draw: () => <LongHeld cell={cell} /> })),
]);

export function WaitingView(): VNode {
  const order = useRef<readonly string[]>([]);
  /** Those that came while the view was open and were not on screen yet. */
  const unseen = useSignal<ReadonlySet<string>>(new Set());
  const byKey = new Map(entries.value.map((entry) => [entry.key, entry]));
  const { keys, fresh } = inOrder([...byKey.keys()], order.current);
  useEffect(() => {
    if (fresh.length > 0 && order.current.length > 0) unseen.value = new Set([...unseen.peek(), ...fresh]);
    if (isSettled.peek()) order.current = keys;
  }, [keys.join(" "), isSettled.value]);
  const waiting = [...unseen.value].filter((key) => byKey.has(key));
  return (
    <section class="view waiting">
      <div class="toolbar">
        <label class="check">
          <input
            type="checkbox"
            checked={notifies.value}
            onChange={({ currentTarget }) => void changeNotifies(currentTarget)}
          />{" "}
          Desktop notifications
        </label>
        <label class="check">
          <input
            type="checkbox"
            checked={badges.value}
            onChange={({ currentTarget }) => (badges.value = currentTarget.checked)}
          />{" "}
          Count in the title
        </label>
        <span class="grow" />
        {openMail.value.length > 1 && <Act onClick={() => void markAllRead()}>Mark all mail as read</Act>}
      </div>
      {notifyProblem.value !== null && (
        <p class="failure" role="status">
          {notifyProblem.value}
        </p>
      )}
      {waitingCount.value === 0 && (
        <div class="empty">
          <h2>Nothing is waiting for you</h2>
          <p>Permission dialogs, questions, mail to you and deliveries that need a decision appear here.</p>
        </div>
      )}
      {waiting.length > 0 && <NewRequests keys={waiting} />}
      <div class="needs">
        {keys.map((key) => (
          <Place key={key} id={key} unseen={unseen}>
            {byKey.get(key)!.draw()}
          </Place>
        ))}
        {deadCount.value > deadLetters.value.length && team.value === null && (
          <p class="muted">
            {`The newest ${deadLetters.value.length} of ${deadCount.value.toLocaleString()} undelivered messages. `}
            <a href="#/messages?state=not+delivered">Show all</a>
          </p>
        )}
      </div>
    </section>
  );
}

/** Where an entry is; one that comes on screen is no longer new. */
function Place({ id, unseen, children }: { id: string; unseen: Signal<ReadonlySet<string>>; children: VNode }): VNode {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const observer = new IntersectionObserver(([entry]) => {
      if (entry!.isIntersecting && unseen.peek().has(id))
        unseen.value = new Set([...unseen.peek()].filter((one) => one !== id));
    });
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, [id]);
  return (
    <div class="place" data-key={id} ref={box}>
      {children}
    </div>
  );
}

function NewRequests({ keys }: { keys: readonly string[] }): VNode {
  const show = (): void => {
    const place = document.querySelector<HTMLElement>(`.place[data-key="${CSS.escape(keys[0]!)}"]`);
    place?.scrollIntoView({ block: "center" });
    place?.querySelector<HTMLElement>("[data-item]")?.focus({ preventScroll: true });
  };
  return (
    <p class="new-requests">
      <button class="primary" onClick={show} aria-keyshortcuts="n" title="Show (n)">
        {keys.length === 1 ? "1 new request ↓" : `${keys.length} new requests ↓`}
      </button>
    </p>
  );
}

function LongHeld({ cell }: { cell: AgentCell }): VNode {
  const { value } = cell.view;
  const address = `${value.team}:${value.name}`;
  return (
    <Need
      kind="held"
      title={
        `${value.pending} ${value.pending === 1 ? "message waits" : "messages wait"} for ${value.name} ` +
        `for ${span(now.value - (value.heldAt ?? now.value))}`
      }
    >
      <p>{visible(value.held ?? "")}</p>
      <p class="actions">
        <a class="button" href={linkTo("queue", address)}>
          Show the queue
        </a>
        {value.pane !== null && (
          <a class="button" href={linkTo("terminal", address)}>
            Terminal
          </a>
        )}
      </p>
    </Need>
  );
}

async function changeNotifies(box: HTMLInputElement): Promise<void> {
  await setNotifies(box.checked);
  box.checked = notifies.value;
}
