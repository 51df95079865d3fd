import { TielineError } from "../../model/errors.ts";
import { linesOf } from "../../model/visible.ts";
import { command } from "../args.ts";
import { canAsk, confirm } from "../confirm.ts";
import { present } from "../present.ts";

export default command({
  name: "answer",
  group: "Agents",
  summary: "answer the dialog that an agent shows",
  usage: ["answer <agent>", "answer <agent> <choice>"],
  details: [
    "Shows what the agent asks: a permission, a question or another dialog. With a choice it takes that one, " +
      "after you have confirmed it; where nobody can be asked, only with --yes. If the dialog changes in the " +
      "meantime, nothing is pressed; if it still stands three seconds later, that is an error.",
    "For the user, and for agents with `may: [answer]` in their profile. Nothing else in Tieline ever " +
      "answers a dialog.",
  ],
  args: [
    { name: "agent", complete: "agent", summary: "which one" },
    { name: "choice", optional: true, summary: "its number, or its words or their beginning" },
  ],
  flags: { yes: { short: "y", summary: "do not ask whether to go on" } },
  examples: [
    ["tieline answer engineer", "show what it asks"],
    ["tieline answer engineer 1", "take the first choice"],
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
  new TielineError("USAGE", "nobody can be asked here whether to answer", {
    remedy: "give --yes once you have read what it asks",
  });
