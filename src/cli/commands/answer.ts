import { TielineError } from "../../model/errors.ts";
import { linesOf } from "../../model/visible.ts";
import { command } from "../input/args.ts";
import { canAsk, confirm } from "../input/confirm.ts";
import { present } from "../output/present.ts";

export default command({
  name: "answer",
  group: "Agents",
  operation: "choose",
  usage: ["answer <agent>", "answer <agent> <choice>"],
  details: [
    "Shows the dialog: a permission, a question or another menu. With a choice, it selects that one " +
      "after you confirm; without a terminal, only with --yes. If the dialog changes in the meantime, no " +
      "key is pressed. If it is still open after three seconds, the command fails.",
    "Only the user may answer, and agents with `may: [answer]` in their profile. Mail never answers a " + "dialog.",
  ],
  args: [
    { name: "agent", complete: "agent", field: "agent" },
    { name: "choice", optional: true, field: "choice", note: "without it, the dialog is shown" },
  ],
  flags: { yes: { short: "y", summary: "do not ask for confirmation" } },
  examples: [
    ["tieline answer engineer", "show the dialog"],
    ["tieline answer engineer 1", "select the first choice"],
    ["tieline answer engineer no --yes", "refuse, from a script"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const dialog = await daemon.call("dialog", { agent: args.agent });
    const { paint } = terminal;
    if (!flags.json) {
      await terminal.print([
        paint("bold", `${dialog.agent} (${dialog.pane}): ${dialog.state}`),
        "",
        ...linesOf(dialog.text),
        "",
      ]);
      if (args.choice === undefined)
        await terminal.print(
          paint(
            "dim",
            `answer with: tieline answer ${args.agent} ${dialog.choices.map(({ choice }) => choice).join("|")}`,
          ),
        );
    }
    if (args.choice === undefined) {
      if (flags.json) await terminal.json(dialog);
      return 0;
    }
    if (!flags.yes) {
      if (flags.json || !canAsk(terminal)) throw needsYes();
      if (!(await confirm(`Answer ${paint("bold", args.choice)}?`, terminal))) return 0;
    }
    const taken = await daemon.call("choose", { agent: args.agent, choice: args.choice, mark: dialog.mark });
    return present(taken, `${paint("green", "✓")} ${taken.agent}: ${taken.choice}. ${taken.label}`, {
      flags,
      terminal,
    });
  },
});

const needsYes = (): TielineError =>
  new TielineError("USAGE", "there is no terminal to confirm the answer", {
    remedy: "read the dialog, then pass --yes",
  });
