import { stringify } from "yaml";
import { projectFileName } from "./project.ts";

/** What `tieline init` writes: a working team, and every other key as a comment. */
export const projectTemplate = (
  team: string,
): string => `# ${projectFileName}: who works here, and who may write to whom.
# Tieline reads this file and never changes it.

# The team of all agents in this directory or below.
team: ${stringify(team).trim()}

# Who can be started here. A name that a built-in profile has (team-lead, engineer, reviewer, qa, fixer, researcher,
# docs) starts from that profile; what you write below it holds instead of the profile's own settings.
agents:
  team-lead:
    may: [spawn]            # besides writing: spawn, kill, answer, topology, broadcast-all, read
  engineer:
  reviewer:
  # ana:
  #   profile: engineer     # takes over that profile's settings
  #   provider: codex       # claude-code, codex, generic, …
  #   model: gpt-5
  #   role: backend         # mail to "backend" reaches whoever has this role
  #   cwd: services/api     # from here
  #   env: { LOG_LEVEL: debug }
  #   autostart: false      # mail does not start it
  # bot:
  #   command: ./bot.sh --loop              # any terminal program
  #   promptPattern: '^> ?$'                # how its last line looks when it waits for input

# Who may write to whom. Leave this out, and everyone may write to everyone. Replies, the user and the
# objects metrics, tick and gateway need no edge.
topology:
  - team-lead <-> engineer
  - team-lead <-> reviewer
  - engineer <-> reviewer
  # - team-lead -> *            # anyone
  # - team-lead -> api:lead     # a bridge to another team

# @name for several.
aliases:
  builders: [engineer, reviewer]

# Participants that are not agents.
# objects:
#   ledger:
#     module: ./ledger.ts       # or command: python3 ledger.py
#   tick:
#     options: { intervalMs: 60000 }
`;
