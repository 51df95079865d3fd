import { stringify } from "yaml";
import { projectFileName } from "./project.ts";

/** What `tieline init` writes: a working team, and every other key as a comment. */
export const projectTemplate = (
  team: string,
): string => `# ${projectFileName}: the agents of this project, and which may write to which.
# Tieline reads this file and never changes it.

# The team of all agents in this directory or below.
team: ${stringify(team).trim()}

# The agents of this project. The names team-lead, engineer, reviewer, qa, fixer, researcher and docs are built-in
# profiles; settings below a name override its profile.
agents:
  team-lead:
    may: [spawn]            # extra rights: spawn, kill, answer, topology, broadcast-all, read
  engineer:
  reviewer:
  # ana:
  #   profile: engineer     # inherits that profile's settings
  #   provider: codex       # claude-code, codex, generic, …
  #   model: gpt-5
  #   role: backend         # mail to "backend" reaches the agents with this role
  #   cwd: services/api     # relative to this file
  #   env: { LOG_LEVEL: debug }
  #   autostart: false      # mail does not start it
  # bot:
  #   command: ./bot.sh --loop              # any terminal program
  #   promptPattern: '^> ?$'                # its last line when it is idle

# Which agents may write to which. Without a topology all may write to each other. Replies, the user and the
# objects metrics, tick and gateway need no edge.
topology:
  - team-lead <-> engineer
  - team-lead <-> reviewer
  - engineer <-> reviewer
  # - team-lead -> *            # any agent
  # - team-lead -> api:lead     # a bridge to another team

# A group is written as @builders.
aliases:
  builders: [engineer, reviewer]

# Participants without a model.
# objects:
#   ledger:
#     module: ./ledger.ts       # or command: python3 ledger.py
#   tick:
#     options: { intervalMs: 60000 }
`;
