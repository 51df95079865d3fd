import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "../client/client.ts";
import type { Home } from "../client/home.ts";
import type { Output } from "../api/schema.ts";
import type { HookCall } from "../providers/hooks/hookCall.ts";
import { hookPlaceIn } from "../intake/hooks/place.ts";
import { providers } from "../compose/providers.ts";

let asked = 0;

/** The daemon's answer to a hook call of Claude Code, asked for as the hook script does it. */
export async function askHook(home: Home, token: string, payload: object): Promise<Output<"hook">> {
  const call = String(++asked);
  writeFileSync(join(hookPlaceIn(home.root).spool, `${call}.call`), `claude-code\t\t\t\n${JSON.stringify(payload)}`);
  return createClient({ socket: home.socket }, { token }).call("hook", { call });
}

/** A provider, and how its hooks speak. */
export const speaking = (provider: string): Pick<HookCall, "provider" | "dialect"> => ({
  provider,
  dialect: providers.dialect(provider),
});

export function hookCall(change: Partial<HookCall> = {}): HookCall {
  const event = change.event ?? "PreToolUse";
  return {
    ...speaking(change.provider ?? "claude-code"),
    event,
    sessionId: "s-1",
    subagent: null,
    cwd: "/p",
    transcriptPath: null,
    tool:
      event === "PreToolUse" || event === "PostToolUse"
        ? { name: "Bash", input: { command: "touch one" }, id: "t-1" }
        : null,
    prompt: null,
    takesAll: false,
    payload: {},
    ...change,
  };
}
