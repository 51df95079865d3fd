import type { OperationWords } from "../../api/operationWords.ts";
import { command } from "../input/args.ts";
import { loadAll } from "../registry.ts";

export default command({
  name: "completions",
  group: "Tieline itself",
  summary: "Print the completions for a shell.",
  usage: ["completions bash|zsh|fish"],
  args: [{ name: "shell", choices: ["bash", "zsh", "fish"], summary: "which one" }],
  flags: {},
  examples: [
    ['eval "$(tieline completions bash)"', "in ~/.bashrc"],
    ["tieline completions zsh > ~/.zfunc/_tieline", "with ~/.zfunc in fpath"],
    ["tieline completions fish > ~/.config/fish/completions/tieline.fish", "for fish"],
  ],
  async run({ args, flags, terminal }) {
    const [{ scripts }, { described }] = await Promise.all([
      import("../help/completions.ts"),
      import("../help/described.ts"),
    ]);
    const words = await wordsFor(args.shell);
    const commands = (await loadAll()).map((one) => described(one, words));
    const script = scripts[args.shell as keyof typeof scripts](commands);
    if (flags.json) await terminal.json({ shell: args.shell, script });
    else await terminal.body(script);
    return 0;
  },
});

/** Bash shows no descriptions, and a shell that evaluates its completions when it starts should not wait for them. */
async function wordsFor(shell: string): Promise<OperationWords> {
  if (shell === "bash") return { summary: () => "", field: () => "" };
  return (await import("../../api/operationWords.ts")).operationWords();
}
