/** The history of a message for each recipient: states with times, transport, proof and reasons. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { DeliveryView, HistoryView } from "../../src/client/browser.ts";
import { failureOf } from "../actions.ts";
import { inTeam } from "../api.ts";
import { resend } from "../compose/draft.ts";
import { cancel, retry } from "../deliveries.ts";
import { Act } from "../parts/act.tsx";
import { DeliveryState } from "../parts/badges.tsx";
import { Windowed } from "../parts/windowed.tsx";
import type { MessageCell } from "../state.ts";
import { visible } from "../text.ts";
import { exactTime, span } from "../times.ts";
import { fold, isHold, type Fold, type Step } from "./fold.ts";

const isFine = (state: string): boolean => ["delivered", "seen", "answered"].includes(state);

export function History({ cell, body = "" }: { cell: MessageCell; body?: string }): VNode {
  const receipt = cell.receipt.value;
  const history = useSignal<HistoryView | null>(null);
  const failure = useSignal<string | null>(null);
  const newest = Math.max(0, ...receipt.deliveries.map(({ updatedAt }) => updatedAt));
  useEffect(() => {
    inTeam(null)
      .call("status", { tag: cell.tag })
      .then((found) => void ([history.value, failure.value] = [found, null]))
      .catch((thrown: unknown) => (failure.value = failureOf(thrown).message));
  }, [cell, newest]);
  const steps = Map.groupBy(history.value?.steps ?? [], ({ agent }) => agent);
  return (
    <div class="history">
      {failure.value !== null && <p class="failure">{`Cannot load the history: ${failure.value}`}</p>}
      {receipt.deliveries.map((delivery) => (
        <section key={delivery.agent} aria-label={`Delivery to ${delivery.agent}`} data-state={delivery.state}>
          <h3>
            <span class="agent-name">{delivery.agent}</span>{" "}
            <DeliveryState state={delivery.state} isOwn={delivery.agent === "user"} />
            <small>{howOf(delivery)}</small>
          </h3>
          {delivery.reason !== null && delivery.reason !== delivery.warning && (
            <p class={isFine(delivery.state) ? "muted small" : "why"}>{visible(delivery.reason)}</p>
          )}
          {delivery.warning !== null && <p class="why warning">{visible(delivery.warning)}</p>}
          <Steps steps={steps.get(delivery.agent) ?? []} since={receipt.acceptedAt} />
          <Actions delivery={delivery} cell={cell} body={body} />
        </section>
      ))}
    </div>
  );
}

const howOf = ({ transport, proof, authority }: DeliveryView): string =>
  [transport, proof && `proof: ${proof}`, authority && `as ${authority}`].filter(Boolean).join(" · ");

function Actions({ delivery, cell, body }: { delivery: DeliveryView; cell: MessageCell; body: string }): VNode | null {
  const { agent, state } = delivery;
  const { team } = cell.receipt.value;
  const act = (verb: typeof cancel) => () => void verb({ tag: cell.tag, team, agent });
  const isDead = ["failed", "expired", "cancelled"].includes(state);
  const isOpen = (state === "queued" && agent !== "user") || state === "uncertain";
  if (!isDead && !isOpen) return null;
  return (
    <p class="actions">
      {isOpen && <Act onClick={act(cancel)}>Cancel</Act>}
      {(isDead || state === "uncertain") && <Act onClick={act(retry)}>Retry</Act>}
      {isDead && <button onClick={() => resend({ to: agent, team, body })}>Edit and resend</button>}
    </p>
  );
}

/** So many entries are shown at once: the first and the last; the rest on demand. */
const mostShown = 40;
const stepHeight = 24;

function Steps({ steps, since }: { steps: readonly Step[]; since: number }): VNode {
  const isAll = useSignal(false);
  const folds = fold(steps);
  if (isAll.value && folds.length > mostShown)
    return (
      <div class="all-steps">
        <Windowed
          rows={folds}
          rowHeight={stepHeight}
          keyOf={({ steps: [first] }) => `${first!.at} ${first!.verb} ${first!.reason}`}
          label="All steps"
          grows={false}
          draw={(one) => <StepLine one={one} since={since} />}
        />
      </div>
    );
  const isLong = folds.length > mostShown;
  const shown = isLong ? [...folds.slice(0, mostShown / 4), ...folds.slice((-mostShown * 3) / 4)] : folds;
  return (
    <ol>
      {shown.map((one, at) => (
        <>
          {isLong && at === mostShown / 4 && (
            <li key="more" class="more">
              <button class="quiet" onClick={() => (isAll.value = true)}>
                {`Show ${(folds.length - mostShown).toLocaleString()} more steps`}
              </button>
            </li>
          )}
          <li key={`${one.steps[0]!.at} ${one.steps[0]!.verb} ${at}`}>
            {one.steps.length === 1 ? <StepLine one={one} since={since} /> : <Folded one={one} since={since} />}
          </li>
        </>
      ))}
    </ol>
  );
}

function StepLine({ one, since }: { one: Fold; since: number }): VNode {
  const [step] = one.steps;
  return (
    <div class="step" title={wordsOf(one)}>
      <time title={exactTime(step!.at)}>+{span(step!.at - since)}</time>
      <span>{wordsOf(one)}</span>
    </div>
  );
}

/** Repeated steps: one line, which opens to all of their times. */
function Folded({ one, since }: { one: Fold; since: number }): VNode {
  const isOpen = useSignal(false);
  const [first, last] = [one.steps[0]!, one.steps.at(-1)!];
  return (
    <details class="folded" open={isOpen.value} onToggle={({ currentTarget }) => (isOpen.value = currentTarget.open)}>
      <summary>
        <time title={`${exactTime(first.at)} to ${exactTime(last.at)}`}>+{span(first.at - since)}</time>
        <span>
          {wordsOf(one)} <small>{`last after ${span(last.at - since)}`}</small>
        </span>
      </summary>
      {isOpen.value && (
        <div class="all-steps">
          <Windowed
            rows={one.steps}
            rowHeight={stepHeight}
            keyOf={({ at }) => String(at)}
            label="Each time"
            grows={false}
            draw={(step) => (
              <div class="step">
                <time title={exactTime(step.at)}>+{span(step.at - since)}</time>
                <span>{exactTime(step.at)}</span>
              </div>
            )}
          />
        </div>
      )}
    </details>
  );
}

function wordsOf({ steps, leftOut }: Fold): string {
  const step = steps[0]!;
  const { verb, from, to, proof, transport, reason } = step;
  const what = verb === "accept" ? "accepted" : isHold(step) ? "held" : from === to ? verb : to;
  const missing = leftOut === 0 ? "" : ` (and ${leftOut.toLocaleString()} steps that are no longer kept)`;
  const times = steps.length > 1 ? ` ${steps.length.toLocaleString()} times` : "";
  const how = `${proof === null ? "" : ` (${proof})`}${transport === null ? "" : ` by ${transport}`}`;
  return visible(`${what}${times}${missing}${how}${reason === null ? "" : `: ${reason}`}`);
}
