import { TielineError } from "../../model/errors.ts";
import type { Provider } from "../../providers/port.ts";
import { command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { setUpMcp } from "../setup/setUpMcp.ts";
import { present } from "../output/present.ts";

const setup = command({
  name: "setup",
  group: "Project",
  summary: "Connect an agent program through hooks or MCP, or undo it.",
  usage: [
    "setup --hooks <program> [--project] [--undo]",
    "setup --mcp <program> [--undo]",
    "setup --shortcuts [--undo]",
  ],
  details: [
    "With hooks, messages arrive in the middle of a turn, and an urgent one blocks the next tool call. " +
      "Other settings in the file stay, and --undo removes the hooks.",
    "With MCP, the program has tools to send, ask, reply and read. One entry is added to its settings " +
      "file; --undo removes it.",
    "Agents that Tieline starts have their hooks already.",
  ],
  args: [],
  flags: {
    hooks: { value: "PROGRAM", suggest: ["claude", "codex", "gemini"], summary: "the program: claude, codex, gemini" },
    mcp: {
      value: "PROGRAM",
      suggest: ["claude", "codex", "gemini", "opencode"],
      summary: "the program: claude, codex, gemini, opencode",
    },
    user: { summary: "for all of your sessions (the default)" },
    project: { summary: "for sessions in this directory, on this machine" },
    shortcuts: { summary: "tmux keys for Tieline, as `tieline shortcuts install` does" },
    undo: { summary: "remove it" },
  },
  examples: [
    ["tieline setup --hooks claude", "in ~/.claude/settings.json"],
    ["tieline setup --hooks claude --project", "in .claude/settings.local.json here"],
    ["tieline setup --hooks claude --undo", "remove them"],
    ["tieline setup --mcp codex", "in ~/.codex/config.toml"],
  ],
  async run({ flags, env, home, daemon, terminal }) {
    if (flags.shortcuts)
      return (await import("./shortcuts.ts")).runShortcuts(
        flags.undo ? "uninstall" : "install",
        undefined,
        env,
        terminal,
        flags.json ?? false,
      );
    if ((flags.hooks === undefined) === (flags.mcp === undefined))
      throw usage(setup, "say --hooks PROGRAM or --mcp PROGRAM");
    if (flags.hooks === undefined)
      return setUpMcp(flags.mcp!, { undo: flags.undo ?? false, json: flags.json ?? false, env, home, terminal });
    const [{ providers }, { installHooks, removeHooks }] = await Promise.all([
      import("../../compose/providers.ts"),
      import("../../providers/hooks/hookInstaller.ts"),
    ]);
    const known = providers.all.filter(({ hooks }) => hooks !== undefined);
    const provider = known.find(({ program }) => program === flags.hooks);
    if (provider === undefined)
      throw unknownProgram(
        flags.hooks,
        known.map(({ program }) => program!),
      );
    const { settings } = provider.hooks!;
    if (flags.user && flags.project)
      throw new TielineError("USAGE", "--user and --project at once", { remedy: "use one of them" });
    const file = settings.file(flags.project ? "project" : "user", { cwd: process.cwd(), env });
    const memory = `${home.root}/hooks/found.json`;
    const done = flags.undo
      ? removeHooks(settings, file, memory)
      : installHooks(
          settings,
          file,
          { ...(await setupOf(home, daemon)), answer: await answerOf(provider, env) },
          memory,
        );
    return present(done, told(done, provider.title, flags.undo ?? false), { flags, terminal });
  },
});

export default setup;

/** The daemon writes the programs that hooks run, so it has to have been there once. */
async function setupOf(home: Context["home"], daemon: Context["daemon"]) {
  await daemon.call("daemonStatus", {});
  const { hookPlaceIn } = await import("../../intake/hooks/place.ts");
  const { hook, wait } = hookPlaceIn(home.root);
  return { hook, wait };
}

/** What the installed program says about itself, where the hooks depend on it. */
async function answerOf({ program, hooks }: Provider, env: Context["env"]): Promise<string | null> {
  const question = hooks?.settings.asks;
  const path = question && Bun.which(program!, { PATH: env["PATH"] ?? "" });
  if (!question || !path) return null;
  const { ProgramAnswers } = await import("../../providers/programAnswers.ts");
  const given = Object.fromEntries(
    Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return new ProgramAnswers().of({ path, question, env: given });
}

function told(
  { file, changed, notes }: { file: string; changed: boolean; notes: readonly string[] },
  title: string,
  undo: boolean,
): string[] {
  const what = undo ? "the hooks are out of" : "the hooks are in";
  const head = changed ? `${title}: ${what} ${file}` : `${title}: nothing to change in ${file}`;
  return [head, ...notes.map((note) => `  ${note}`)];
}

const unknownProgram = (name: string, known: readonly string[]): TielineError =>
  new TielineError("USAGE", `there are no hooks for ${name}`, {
    remedy: `use one of ${known.join(", ")}`,
    operands: { program: name },
  });
