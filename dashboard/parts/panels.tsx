import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../src/client/browser.ts";
import { inTeam } from "../api.ts";
import { attempt, failureOf, tell } from "../actions.ts";
import { ComposePanel } from "../compose/panel.tsx";
import { refresh } from "../refresh.ts";
import { actingTeam, panel } from "../state.ts";
import { Icon } from "./icons.tsx";

/** Whoever closes a panel goes on where they were. */
function useReturn(open: boolean): void {
  useEffect(() => {
    const before = document.activeElement;
    return () => void (open && before instanceof HTMLElement && before.focus());
  }, [open]);
}

export function Panels(): VNode | null {
  useReturn(panel.value !== null);
  switch (panel.value?.kind) {
    case "compose":
      return <ComposePanel />;
    case "spawn":
      return <SpawnPanel />;
    case "help":
      return <HelpPanel />;
    default:
      return null;
  }
}

function Head({ title }: { title: string }): VNode {
  return (
    <header>
      <h2>{title}</h2>
      <button type="button" class="quiet" aria-label="Close" onClick={() => (panel.value = null)}>
        <Icon name="close" />
      </button>
    </header>
  );
}

function SpawnPanel(): VNode {
  const profiles = useSignal<Output<"profiles">>([]);
  const profile = useSignal("");
  const name = useSignal("");
  const prompt = useSignal("");
  const busy = useSignal(false);
  const client = inTeam(actingTeam.value);
  useEffect(() => {
    client
      .call("profiles", {})
      .then((found) => (profiles.value = found))
      .catch((thrown: unknown) => tell(failureOf(thrown).message, { bad: true }));
  }, []);
  async function start(event: Event): Promise<void> {
    event.preventDefault();
    busy.value = true;
    const wishes = { profile: profile.value, ...(name.value && { name: name.value }), ...(prompt.value && { prompt: prompt.value }) };
    const worked = await attempt(() => client.call("spawn", wishes), `${name.value || profile.value} starts`);
    busy.value = false;
    if (worked) panel.value = null;
    await refresh();
  }
  const about = profiles.value.find((one) => one.name === profile.value);
  return (
    <form class="panel spawn" aria-label="Start an agent" onSubmit={(event) => void start(event)}>
      <Head title={`Start an agent${actingTeam.value === null ? "" : ` in ${actingTeam.value}`}`} />
      <div class="field">
        <label for="spawn-profile">Profile</label>
        <select id="spawn-profile" required value={profile.value} onChange={({ currentTarget }) => (profile.value = currentTarget.value)}>
          <option value="">choose…</option>
          {profiles.value.map((one) => (
            <option key={one.name} value={one.name}>{`${one.name} (${one.provider})`}</option>
          ))}
        </select>
      </div>
      {about && <p class="muted">{[about.description, about.source].filter(Boolean).join(" · ")}</p>}
      <div class="field">
        <label for="spawn-name">Name</label>
        <input id="spawn-name" placeholder={profile.value || "as the profile"} value={name.value} onInput={({ currentTarget }) => (name.value = currentTarget.value)} pattern="[A-Za-z_][A-Za-z0-9_\-]*" />
      </div>
      <textarea aria-label="First words" rows={4} placeholder="What it should know from the start (optional)" value={prompt.value} onInput={({ currentTarget }) => (prompt.value = currentTarget.value)} />
      <footer>
        <button type="button" onClick={() => void attempt(() => client.call("resume", {}), "The team starts again").then(refresh)}>
          Resume the whole team
        </button>
        <button
          type="button"
          onClick={() => {
            const team = window.prompt("Name of the new team?");
            if (team) void attempt(() => client.call("teamCreate", { team }), `Team ${team} was made`).then(refresh);
          }}
        >
          New team…
        </button>
        <span class="grow" />
        <button class="primary" type="submit" disabled={busy.value || profile.value === ""}>
          {busy.value ? "Starting…" : "Start"}
        </button>
      </footer>
    </form>
  );
}

const keys = [
  ["g t", "team"],
  ["g m", "messages"],
  ["g w", "waiting for you"],
  ["g q", "queue"],
  ["g g", "graph"],
  ["g n", "numbers"],
  ["g e", "terminal"],
  ["/", "search"],
  ["c", "write a message"],
  ["r", "reply to the open message"],
  ["j  k", "next, previous message"],
  ["s", "start an agent"],
  ["Ctrl Enter", "send"],
  ["Esc", "close"],
  ["?", "this list"],
] as const;

function HelpPanel(): VNode {
  return (
    <div class="panel help" role="dialog" aria-label="Keys">
      <Head title="Keys" />
      <dl>
        {keys.map(([key, what]) => (
          <div key={key}>
            <dt>
              {key.split(" ").filter(Boolean).map((one) => (
                <kbd key={one}>{one}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
