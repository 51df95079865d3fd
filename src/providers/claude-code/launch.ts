import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import type { PermissionMode } from "../../model/profile.ts";
import { claudeFolder } from "./folder.ts";
import { flags, numberedChoices, withArguments, type Launching } from "../port.ts";
import { launchSettings } from "./settings.ts";

/** By what each version calls it, the newest name first. */
const permissionModes: Readonly<Record<PermissionMode, readonly string[]>> = {
  ask: ["manual", "default"],
  auto: ["auto", "acceptEdits"],
  skip: ["bypassPermissions"],
};

/** The first name that the program's help has among the choices; without a list of them, the newest. */
function permissionMode(mode: PermissionMode, help: string | null): string {
  const choices = /--permission-mode <mode>[^(]*\(choices:([^)]*)\)/.exec(help ?? "")?.[1];
  const [newest] = permissionModes[mode];
  return permissionModes[mode].find((name) => choices?.includes(`"${name}"`)) ?? newest!;
}

export const launching: Launching = {
  asks: "--help",
  install: "npm install -g @anthropic-ai/claude-code",
  takesSessionId: true,
  resumes: true,

  launchCommand(profile, { sessionId, resume, prompt, permissions, model, hooks, answer = null }) {
    // Settings of the profile's own would be put aside by ours.
    const settings = hooks && !profile.args.includes("--settings") ? launchSettings(hooks) : null;
    const own = flags(
      sessionId !== null && [resume ? "--resume" : "--session-id", sessionId],
      ["--permission-mode", permissionMode(permissions, answer)],
      model !== null && ["--model", model],
      prompt && ["--append-system-prompt", prompt.text],
      settings && ["--settings", JSON.stringify(settings)],
    );
    return {
      command: withArguments(profile.command ?? ["claude"], [...own, ...profile.args]),
      // A suggestion in the composer looks like a draft.
      openToPeers: settings !== null,
      env: { CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION: "false" },
    };
  },

  /** `--resume` refuses a session in which nothing was ever said; a transcript is written with the first prompt. */
  async hasConversation(sessionId, env) {
    const config = claudeFolder(env);
    const folders = await readdir(join(config, "projects")).catch((fault: unknown) => unlessMissing(fault, []));
    const found = await Promise.all(
      folders.map((folder) => isFile(join(config, "projects", folder, `${sessionId}.jsonl`))),
    );
    return found.includes(true);
  },

  exitWords: "/exit",
  interruptKeys: ["Escape"],
  dialogs: numberedChoices,
};

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch((fault: unknown) => unlessMissing(fault, null));
  return found?.isFile() ?? false;
}

function unlessMissing<Instead>(fault: unknown, instead: Instead): Instead {
  if (["ENOENT", "ENOTDIR"].includes((fault as NodeJS.ErrnoException).code ?? "")) return instead;
  throw fault;
}
