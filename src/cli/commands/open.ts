import { asTielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import type { Context } from "../command.ts";
import { onceTrusted } from "../steps/trusting.ts";
import { canAsk } from "../input/confirm.ts";
import type { NotStarted } from "../../api/schemas/life.ts";
import { complainOf, isEmpty, noAgents } from "../output/notStarted.ts";
import attach from "./attach.ts";
import ls, { watch } from "./ls.ts";

export default command({
  name: "open",
  group: "Project",
  uses: ["up", "place"],
  summary: "Go to the team's tmux session, and start the team if it is not running.",
  usage: ["open"],
  details: [
    "`tieline` without arguments does this. A new session opens on the team's lead. Agents that did not " +
      "start are listed after you detach, and the command exits with 4.",
    "Without a tieline.yaml and a running team, it shows the agents of all teams until Ctrl-C.",
  ],
  args: [],
  flags: {},
  examples: [["tieline", "the same"]],
  async run(context) {
    const { terminal } = context;
    const team = await entered(context);
    if (team !== null) {
      if (team.isEmpty) {
        await terminal.print(terminal.paint("dim", noAgents));
        return 0;
      }
      return attached(context, team.failed);
    }
    const { paint } = terminal;
    const hints = [
      paint(
        "dim",
        "This directory has no tieline.yaml. `tieline init` writes one, `tieline adopt` adds running " + "programs,",
      ),
      paint("dim", "`tieline attach TEAM:AGENT` goes to an agent, and `tieline help` lists the commands."),
    ];
    if (canAsk(terminal))
      return watch(context, { all: true, hints: [...hints, paint("dim", "Ctrl-C closes this view.")] });
    return ls.run({ ...context, args: {}, flags: { ...context.flags, all: true } } as never);
  },
});

interface Entered {
  /** There is nothing to start, and so no session. */
  readonly isEmpty: boolean;
  readonly failed: readonly NotStarted[];
}

/** Starts the project's team where its session is missing; null: there is no project either. */
async function entered(context: Context): Promise<Entered | null> {
  try {
    await context.daemon.call("place", {});
  } catch (thrown) {
    if (!["PANE_UNKNOWN", "TMUX_UNAVAILABLE", "TARGET_NOT_FOUND"].includes(asTielineError(thrown).code)) throw thrown;
    return launched(context);
  }
  return { isEmpty: false, failed: [] };
}

async function launched(context: Context): Promise<Entered | null> {
  try {
    const result = await onceTrusted(() => context.daemon.call("up", {}), context);
    return { isEmpty: isEmpty(result), failed: result.failed };
  } catch (thrown) {
    if (asTielineError(thrown).operands["missing"] === "tieline.yaml") return null;
    throw thrown;
  }
}

/**
 * The session covers what is printed before it, and tmux discards what the terminal has not read yet, so the reasons
 * follow it.
 */
async function attached(context: Context, failed: readonly NotStarted[]): Promise<number> {
  const { terminal } = context;
  const code = await attach.run({ ...context, args: { agent: undefined } });
  await complainOf(failed, terminal);
  return code === 0 && failed.length > 0 ? 4 : code;
}
