import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { permissionModes, sandboxes } from "../../model/profile.ts";
import { TielineError } from "../../model/errors.ts";
import { presentAgent } from "../agentTable.ts";
import { agentPrograms, command } from "../args.ts";
import { words } from "../words.ts";

export default command({
  name: "spawn",
  group: "Agents",
  summary: "start an agent from a profile",
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
      summary:
        "a profile of the project, your own, or a built-in one: team-lead, engineer, reviewer, qa, " +
        "fixer, researcher, docs",
    },
  ],
  flags: {
    name: { value: "NAME", summary: "its name; default: the profile's name" },
    task: { value: "TASK", summary: "names its window, such as wish-42; default: its role" },
    provider: {
      value: "PROVIDER",
      suggest: agentPrograms,
      summary: "a program other than the profile's: claude-code, codex, gemini, opencode, pi",
    },
    model: { value: "MODEL", summary: "the model, as the program names it" },
    cwd: {
      value: "DIR",
      complete: "directory",
      summary: "working directory; default: the profile's, else the current one",
    },
    prompt: {
      value: "FILE",
      complete: "file",
      summary: "added to the profile's prompt: a file, or text of several words",
    },
    skill: { value: "SKILL", summary: "a skill to start with" },
    resume: { value: "SESSION", summary: "continue this conversation, by the program's own id" },
    sandbox: { value: "SANDBOX", choices: sandboxes, summary: "the sandbox" },
    permissions: {
      value: "MODE",
      choices: permissionModes,
      summary: "how the program asks before it acts; default ask",
    },
    args: { value: "ARGS", parse: words, summary: "more arguments for the program, as one string" },
  },
  examples: [
    ["tieline spawn engineer", "the built-in engineer"],
    ["tieline spawn engineer --name ana --task wish-42 --model opus", "with its own name, in a window wish-42"],
    ["tieline spawn reviewer --provider codex --permissions auto", "the reviewer's prompt, in Codex"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const { name, task, provider, model, skill, resume, sandbox, permissions } = flags;
    const given = { name, task, provider, model, skill, resume, sandbox, permissions };
    // Paths are the caller's: the daemon works elsewhere.
    const agent = await daemon.call("spawn", {
      profile: args.profile,
      ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
      ...(flags.cwd !== undefined && { cwd: resolve(flags.cwd) }),
      ...(flags.prompt !== undefined && { prompt: promptText(flags.prompt) }),
      ...(flags.args !== undefined && { args: [...flags.args] }),
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
