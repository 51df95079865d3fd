/** What can be done to an agent. Each act says what will happen before it does it. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { mayHaveArrived, TielineError, type AgentView, type Client } from "../../src/client/browser.ts";
import { attempt, failureOf, tell } from "../actions.ts";
import { inTeam } from "../api.ts";
import { refresh } from "../refresh.ts";
import { connection } from "../state.ts";

const isRunning = ({ presence }: Pick<AgentView, "presence">): boolean =>
  presence !== "offline" && presence !== "terminated";

interface Act {
  readonly label: string;
  /** What will happen, in sentences. */
  readonly says: string;
  /** What the button says that does it. */
  readonly button: string;
  readonly danger: boolean;
  readonly run: (client: Client) => Promise<string>;
}

const messages = (count: number): string => (count === 1 ? "1 message" : `${count} messages`);

/** What is possible now, the mildest first. */
function actsOn(agent: AgentView): readonly Act[] {
  const { name, kind, profile, pending, pane } = agent;
  if (kind !== "program") return [];
  const running = isRunning(agent);
  const waits = pending === 0 ? "" : ` ${messages(pending)} in its queue will wait.`;
  const acts: (Act | false)[] = [
    running && {
      label: "Interrupt",
      says: `Presses the interrupt key if ${name} is working. Its conversation and its queue stay.`,
      button: `Interrupt ${name}`,
      danger: false,
      run: async (client) => {
        await client.call("interrupt", { agent: name });
        return `${name} was interrupted`;
      },
    },
    !running &&
      profile !== null && {
        label: "Resume",
        says: `Starts ${name} again from the profile ${profile}, with its conversation if the program can continue it.`,
        button: `Resume ${name}`,
        danger: false,
        run: async (client) => {
          const { failed, already } = await client.call("resume", { agents: [name] });
          if (failed[0] !== undefined) throw new Error(`${name} did not start: ${failed[0].message}`);
          return already.length > 0 ? `${name} was already running` : `${name} was started`;
        },
      },
    running &&
      profile !== null && {
        label: "Restart",
        says:
          `Closes the pane of ${name} and starts it again from the profile ${profile}. It continues its conversation ` +
          `if the program can. Unsaved work of the program is lost.${waits}`,
        button: `Restart ${name}`,
        danger: true,
        run: async (client) => {
          await client.call("restart", { agent: name });
          return `${name} was restarted`;
        },
      },
    running && {
      label: "Stop",
      says:
        `Interrupts a running turn and asks the program to exit. Its conversation is kept` +
        `${profile === null ? "" : ", and Resume starts it again"}.${waits}`,
      button: `Stop ${name}`,
      danger: true,
      run: async (client) => {
        await client.call("stop", { agent: name });
        return `${name} was stopped`;
      },
    },
    running &&
      pane !== null && {
        label: "Kill",
        says: `Closes ${pane} and everything that runs in it. Unsaved work of the program is lost.${waits}`,
        button: `Kill ${name}`,
        danger: true,
        run: async (client) => {
          await client.call("kill", { agent: name });
          return `${name} was killed`;
        },
      },
    {
      label: "Remove",
      says:
        `Tieline forgets ${name}. This cannot be undone.` +
        `${running ? " Its program keeps running; stop it first if it should not." : ""}` +
        `${pending === 0 ? "" : ` ${messages(pending)} in its queue will bounce to the senders.`}` +
        " Its past messages stay in the log.",
      button: `Remove ${name}`,
      danger: true,
      run: async (client) => {
        const { failedDeliveries } = await client.call("rm", { agent: name, force: pending > 0 });
        return `${name} was removed${failedDeliveries === 0 ? "" : `; ${messages(failedDeliveries)} bounced`}`;
      },
    },
  ];
  return acts.filter((act) => act !== false);
}

export function AgentActs({ agent, disabled }: { readonly agent: AgentView; readonly disabled: boolean }): VNode {
  const chosen = useSignal<string | null>(null);
  const busy = useSignal<string | null>(null);
  const failure = useSignal<{ readonly message: string; readonly remedy: string | null } | null>(null);
  const box = useRef<HTMLDivElement>(null);
  const opener = useRef<HTMLElement | null>(null);
  const acts = actsOn(agent);
  const act = acts.find(({ label }) => label === chosen.value);
  const isAway = connection.value !== "live";
  useEffect(() => {
    if (chosen.value !== null) box.current?.querySelector<HTMLElement>("[data-first]")?.focus();
  }, [chosen.value]);

  const close = (): void => {
    chosen.value = failure.value = null;
    opener.current?.focus();
  };
  async function run({ label, run: work }: Act): Promise<void> {
    busy.value = label;
    failure.value = null;
    try {
      tell(await work(inTeam(agent.team)));
      chosen.value = null;
    } catch (thrown) {
      failure.value = outcomeOf(thrown, label.toLowerCase(), agent.name);
    } finally {
      busy.value = null;
    }
    if (connection.peek() === "live") await attempt(refresh);
  }

  return (
    <div
      class="acts"
      onKeyDown={(event) => {
        if (event.key !== "Escape" || chosen.value === null) return;
        event.stopPropagation();
        close();
      }}
    >
      <p class="actions">
        {acts.map(({ label, danger }) => (
          <button
            key={label}
            class={danger ? "danger" : ""}
            aria-expanded={chosen.value === label}
            disabled={disabled || isAway || busy.value !== null}
            onClick={({ currentTarget }) => {
              opener.current = currentTarget;
              failure.value = null;
              chosen.value = chosen.value === label ? null : label;
            }}
          >
            {busy.value === label ? `${label}…` : label}
          </button>
        ))}
      </p>
      {failure.value !== null && (
        <div class="failure" role="alert">
          <strong>{failure.value.message}</strong>
          {failure.value.remedy !== null && <p>{failure.value.remedy}</p>}
        </div>
      )}
      {act !== undefined && (
        <div class="confirm" ref={box} role="group" aria-label={act.label}>
          <p>{act.says}</p>
          <p class="actions">
            <button
              data-first
              class={act.danger ? "danger asks" : "primary"}
              disabled={disabled || isAway || busy.value !== null}
              onClick={() => void run(act)}
            >
              {busy.value === act.label ? "Waiting for the daemon…" : act.button}
            </button>
            <button onClick={close}>Cancel</button>
          </p>
        </div>
      )}
    </div>
  );
}

/** What is known after a failure: a daemon that went away may have done it. */
function outcomeOf(
  thrown: unknown,
  verb: string,
  name: string,
): { readonly message: string; readonly remedy: string | null } {
  if (!(thrown instanceof TielineError) || thrown.code !== "DAEMON_UNAVAILABLE") return failureOf(thrown);
  return mayHaveArrived(thrown)
    ? {
        message: `The daemon stopped answering. It is not known whether the ${verb} of ${name} was done.`,
        remedy: "The page shows the state of the agent as soon as the daemon is back.",
      }
    : { message: `The daemon does not answer. Nothing was done to ${name}.`, remedy: thrown.remedy };
}
