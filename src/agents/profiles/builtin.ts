import docs from "./builtin/docs.md" with { type: "text" };
import engineer from "./builtin/engineer.md" with { type: "text" };
import fixer from "./builtin/fixer.md" with { type: "text" };
import qa from "./builtin/qa.md" with { type: "text" };
import researcher from "./builtin/researcher.md" with { type: "text" };
import reviewer from "./builtin/reviewer.md" with { type: "text" };
import teamLead from "./builtin/team-lead.md" with { type: "text" };

/** The profiles that come with Tieline, as text: part of the program, so that they are there in a single file too. */
export const builtinProfiles: ReadonlyMap<string, string> = new Map([
  ["team-lead", teamLead],
  ["engineer", engineer],
  ["reviewer", reviewer],
  ["qa", qa],
  ["fixer", fixer],
  ["researcher", researcher],
  ["docs", docs],
]);
