import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import type { Output } from "../../src/client/browser.ts";
import { attempt } from "../actions.ts";
import { inTeam } from "../api.ts";
import { refresh } from "../refresh.ts";
import { actingTeam, panel, teamNames } from "../state.ts";
import { Act } from "./act.tsx";
import { Dialog } from "./dialog.tsx";

export function SpawnPanel(): VNode {
  const team = useSignal(actingTeam.peek() ?? teamNames.peek()[0] ?? null);
  const profiles = useSignal<Output<"profiles">>([]);
  const profile = useSignal("");
  const name = useSignal("");
  const prompt = useSignal("");
  const busy = useSignal(false);
  useEffect(
    () => void attempt(async () => (profiles.value = await inTeam(team.value).call("profiles", {}))),
    [team.value],
  );
  useEffect(() => document.getElementById("spawn-profile")?.focus(), []);

  async function start(event: Event): Promise<void> {
    event.preventDefault();
    busy.value = true;
    const wishes = {
      profile: profile.value,
      ...(name.value && { name: name.value }),
      ...(prompt.value && { prompt: prompt.value }),
    };
    const worked = await attempt(
      () => inTeam(team.value).call("spawn", wishes),
      `${name.value || profile.value} starts`,
    );
    busy.value = false;
    if (worked) panel.value = null;
    await attempt(refresh);
  }

  const about = profiles.value.find((one) => one.name === profile.value);
  return (
    <Dialog kind="spawn" label="Start an agent">
      <form aria-label="Start an agent" onSubmit={(event) => void start(event)}>
        {teamNames.value.length > 1 && (
          <div class="field">
            <label for="spawn-team">Team</label>
            <select
              id="spawn-team"
              value={team.value ?? ""}
              onChange={({ currentTarget }) => (team.value = currentTarget.value)}
            >
              {teamNames.value.map((one) => (
                <option key={one}>{one}</option>
              ))}
            </select>
          </div>
        )}
        <div class="field">
          <label for="spawn-profile">Profile</label>
          <select
            id="spawn-profile"
            required
            value={profile.value}
            onChange={({ currentTarget }) => (profile.value = currentTarget.value)}
          >
            <option value="">choose…</option>
            {profiles.value.map((one) => (
              <option key={one.name} value={one.name}>{`${one.name} (${one.provider})`}</option>
            ))}
          </select>
        </div>
        {about && <p class="muted small">{[about.description, about.source].filter(Boolean).join(" · ")}</p>}
        <div class="field">
          <label for="spawn-name">Name</label>
          <input
            id="spawn-name"
            placeholder={profile.value || "as the profile"}
            value={name.value}
            onInput={({ currentTarget }) => (name.value = currentTarget.value)}
            pattern="[A-Za-z_][A-Za-z0-9_\-]*"
          />
        </div>
        <textarea
          aria-label="Prompt"
          rows={4}
          placeholder="Added to the profile's prompt (optional)"
          value={prompt.value}
          onInput={({ currentTarget }) => (prompt.value = currentTarget.value)}
        />
        <footer>
          <span class="grow" />
          <Act class="primary" type="submit" disabled={busy.value || profile.value === ""}>
            {busy.value ? "Starting…" : "Start"}
          </Act>
        </footer>
      </form>
    </Dialog>
  );
}
