import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { attempt, failureOf, tell } from "../actions.ts";
import { inTeam } from "../api.ts";
import { Act } from "../parts/act.tsx";
import { refresh } from "../refresh.ts";
import { team } from "../state.ts";

/** Removes the agents whose programs have ended by themselves. It says which, and why others stay. */
export function PruneGone({ gone }: { readonly gone: number }): VNode | null {
  const asks = useSignal(false);
  const kept = useSignal<readonly { readonly name: string; readonly team: string; readonly why: string }[]>([]);
  const failure = useSignal<string | null>(null);
  if (gone === 0 && kept.value.length === 0 && failure.value === null) return null;

  async function prune(): Promise<void> {
    asks.value = false;
    failure.value = null;
    try {
      const answer = await inTeam(team.peek()).call("prune", { all: team.peek() === null });
      kept.value = answer.kept;
      tell(answer.removed.length === 1 ? "1 agent removed" : `${answer.removed.length} agents removed`);
    } catch (thrown) {
      failure.value = failureOf(thrown).message;
    }
    await attempt(refresh);
  }

  return (
    <div class="prune" role="group" aria-label="Agents that are gone">
      <p class="actions">
        {asks.value ? (
          <>
            <span>
              Tieline forgets agents whose program has exited. Agents with mail, or with a conversation that can be
              resumed, stay.
            </span>
            <Act class="danger asks" onClick={() => void prune()}>
              Remove them
            </Act>
            <button onClick={() => (asks.value = false)}>Back</button>
          </>
        ) : (
          gone > 0 && (
            <Act onClick={() => (asks.value = true)}>
              {gone === 1 ? "Remove 1 agent that is gone…" : `Remove ${gone} agents that are gone…`}
            </Act>
          )
        )}
      </p>
      {failure.value !== null && (
        <p class="failure" role="alert">{`Not known whether they were removed: ${failure.value}`}</p>
      )}
      {kept.value.length > 0 && (
        <ul class="small" aria-label="Kept">
          {kept.value.map(({ name, team: of, why }) => (
            <li key={`${of}:${name}`}>{`${name} stays: ${why}`}</li>
          ))}
        </ul>
      )}
    </div>
  );
}
