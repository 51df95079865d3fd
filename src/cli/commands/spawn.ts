import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { permissionModes, sandboxes } from "../../model/profile.ts";
import { TielineError } from "../../model/errors.ts";
import { presentAgent } from "../output/agentTable.ts";
import { agentPrograms, command } from "../input/args.ts";
import { shellWords } from "../input/shellWords.ts";

export default command({
  name: "spawn",
  group: "Agents",
  operation: "spawn",
  usage: ["spawn <profile> [--name <name>]"],
  details: [
    "The agent gets its own window in the tmux session of its team. If an agent of the profile is " +
      "already running, the next one is an instance: ana, ana-2, ana-3.",
    "The options are stored: mail, `tieline resume` and `tieline restart` start the agent with the same " + "ones.",
  ],
  args: [
    {
      name: "profile",
      complete: "profile",
      field: "profile",
      note:
        "one of the project, your own, or a built-in one: team-lead, engineer, reviewer, qa, fixer, " +
        "researcher, docs",
    },
  ],
  flags: {
    name: { value: "NAME", field: "name" },
    task: { value: "TASK", field: "task" },
    provider: {
      value: "PROVIDER",
      suggest: agentPrograms,
      field: "provider",
      note: `one of ${agentPrograms.join(", ")}`,
    },
    model: { value: "MODEL", field: "model" },
    cwd: { value: "DIR", complete: "directory", field: "cwd" },
    prompt: { value: "FILE", complete: "file", field: "prompt", note: "a file, or text of several words" },
    skill: { value: "SKILL", field: "skill" },
    resume: { value: "SESSION", field: "resume" },
    sandbox: { value: "SANDBOX", choices: sandboxes, field: "sandbox" },
    permissions: { value: "MODE", choices: permissionModes, field: "permissions" },
    args: { value: "ARGS", parse: shellWords, field: "args", note: "as one string" },
  },
  examples: [
    ["tieline spawn engineer", "the built-in engineer"],
    ["tieline spawn engineer --name ana --task wish-42 --model opus", "with its own name, in a window wish-42"],
    ["tieline spawn reviewer --provider codex --permissions auto", "the reviewer's prompt, in Codex"],
  ],
  async run({ flags, input, daemon, terminal }) {
    // Paths are the caller's: the daemon works elsewhere.
    const agent = await daemon.call("spawn", {
      ...input,
      ...(flags.cwd !== undefined && { cwd: resolve(flags.cwd) }),
      ...(flags.prompt !== undefined && { prompt: promptText(flags.prompt) }),
    });
    return presentAgent(agent, { flags, terminal });
  },
});

function promptText(given: string): string {
  if (existsSync(given)) return readFileSync(given, "utf8").trim();
  if (/\s/.test(given)) return given;
  throw new TielineError("USAGE", `--prompt: there is no file ${given}`, {
    remedy: "name a file, or write the prompt itself in several words",
  });
}
