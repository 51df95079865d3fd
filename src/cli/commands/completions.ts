import { command } from "../args.ts";
import { loadAll } from "../registry.ts";

export default command({
  name: "completions",
  group: "Tieline itself",
  summary: "print the completions for a shell",
  usage: ["completions bash|zsh|fish"],
  args: [{ name: "shell", choices: ["bash", "zsh", "fish"], summary: "which one" }],
  flags: {},
  examples: [
    ['eval "$(tieline completions bash)"', "in ~/.bashrc"],
    ["tieline completions zsh > ~/.zfunc/_tieline", "with ~/.zfunc in fpath"],
    ["tieline completions fish > ~/.config/fish/completions/tieline.fish", "for fish"],
  ],
  async run({ args, flags, terminal }) {
    const { scripts } = await import("../completions.ts");
    const script = scripts[args.shell as keyof typeof scripts](await loadAll());
    if (flags.json) await terminal.json({ shell: args.shell, script });
    else await terminal.body(script);
    return 0;
  },
});
