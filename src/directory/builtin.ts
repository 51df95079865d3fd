import docs from "./builtin/docs.md" with { type: "text" };
import engineer from "./builtin/engineer.md" with { type: "text" };
import fixer from "./builtin/fixer.md" with { type: "text" };
import qa from "./builtin/qa.md" with { type: "text" };
import researcher from "./builtin/researcher.md" with { type: "text" };
import reviewer from "./builtin/reviewer.md" with { type: "text" };
import teamLead from "./builtin/team-lead.md" with { type: "text" };
import usingTieline from "./builtin/using-tieline.md" with { type: "text" };

/** Each role's own file, followed by what every agent must know about its mail. */
const together = (role: string): string => `${role.trim()}\n\n${usingTieline}`;

/** The profiles that come with Tieline, as text: part of the program, so that they are there in a single file too. */
export const builtinProfiles: ReadonlyMap<string, string> = new Map([
  ["team-lead", together(teamLead)],
  ["engineer", together(engineer)],
  ["reviewer", together(reviewer)],
  ["qa", together(qa)],
  ["fixer", together(fixer)],
  ["researcher", together(researcher)],
  ["docs", together(docs)],
]);
