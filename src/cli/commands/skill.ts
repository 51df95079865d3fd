import { command } from "../input/args.ts";

export default command({
  name: "skill",
  group: "Tieline itself",
  summary: "Print the instructions for agents.",
  usage: ["skill [--agents]"],
  details: [
    "Agents that Tieline starts get these instructions in their prompt. For others, put them where their " +
      "program reads skills.",
  ],
  args: [],
  flags: { agents: { summary: "without the front matter of a skill, for AGENTS.md" } },
  examples: [
    [
      "mkdir -p ~/.claude/skills/tieline && tieline skill > ~/.claude/skills/tieline/SKILL.md",
      "as a Claude Code skill",
    ],
    ["tieline skill --agents >> AGENTS.md", "for programs that read AGENTS.md"],
  ],
  async run({ flags, terminal }) {
    const { skillText, teaching } = await import("../../agents/start/teaching.ts");
    const text = flags.agents ? teaching : skillText;
    if (flags.json) await terminal.json({ text });
    else await terminal.body(text);
    return 0;
  },
});
