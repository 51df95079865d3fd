import { command } from "../args.ts";

export default command({
  name: "skill",
  group: "Tieline itself",
  summary: "print what an agent must know to use Tieline",
  usage: ["skill [--agents]"],
  details: [
    "Agents that Tieline starts are told the same at their start. For others, put it where their program looks.",
  ],
  args: [],
  flags: { agents: { summary: "without the head of a skill, for AGENTS.md" } },
  examples: [
    [
      "mkdir -p ~/.claude/skills/tieline && tieline skill > ~/.claude/skills/tieline/SKILL.md",
      "as a skill of Claude Code",
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
