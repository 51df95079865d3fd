import { command } from "../input/args.ts";
import { launcher } from "../../os/install.ts";
import type { Terminal } from "../output/terminal.ts";
import { present } from "../output/present.ts";

export default command({
  name: "shortcuts",
  group: "Project",
  summary: "Add tmux keys: prefix G opens Tieline, prefix g shows a quick status.",
  usage: ["shortcuts install|uninstall|show [--alias NAME]"],
  details: [
    "Adds a marked block to your tmux.conf and, with --alias, to your shell's startup file. Uninstalling " +
      "removes exactly these blocks.",
  ],
  args: [{ name: "what", choices: ["install", "uninstall", "show"], summary: "add, remove or print them" }],
  flags: { alias: { value: "NAME", summary: "a short name for tieline in your shell, such as tl" } },
  examples: [
    ["tieline shortcuts install --alias tl", "keys in tmux, and tl in the shell"],
    ["tieline shortcuts uninstall", "remove both"],
  ],
  run: ({ args, flags, env, terminal }) =>
    runShortcuts(args.what as Verb, flags.alias, env, terminal, flags.json ?? false),
});

type Verb = "install" | "uninstall" | "show";

export async function runShortcuts(
  verb: Verb,
  alias: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
  json: boolean,
): Promise<number> {
  const { bindings, shellAlias, shellStarts, tmuxConfig } = await import("../setup/shortcuts.ts");
  const { hasBlock, removeBlock, writeBlock } = await import("../setup/fencedBlock.ts");
  const tieline = Bun.which("tieline", { PATH: env["PATH"] ?? "" }) ? "tieline" : launcher;
  const conf = tmuxConfig(env);
  const keys = bindings(tieline);
  const shell = alias === undefined ? [] : [shellAlias(env, tieline, alias)];
  const blocks = [{ file: conf, lines: keys }, ...shell];

  if (verb === "show") {
    return present(
      { file: conf, lines: keys, installed: hasBlock(conf) },
      [`# ${conf}${hasBlock(conf) ? "" : " (not installed)"}`, ...keys],
      { flags: { json }, terminal },
    );
  }
  const files = verb === "install" ? blocks : [conf, ...shellStarts(env)].map((file) => ({ file, lines: [] }));
  const done = files.map(({ file, lines }) => ({
    file,
    change: verb === "install" ? writeBlock(file, lines) : removeBlock(file),
  }));
  if (json) {
    await terminal.json(done);
    return 0;
  }
  const told = done
    .filter(({ change }) => change !== "absent")
    .map(({ file, change }) => `${terminal.paint("green", "✓")} ${file}: ${change}`);
  const next =
    verb === "install" ? [terminal.paint("dim", `in a tmux that runs already: tmux source-file ${conf}`)] : [];
  await terminal.print(told.length === 0 ? "nothing of ours was there" : [...told, ...next]);
  return 0;
}
