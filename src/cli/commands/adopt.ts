import { resolve } from "node:path";
import type { AgentView } from "../../api/schema.ts";
import type { FoundView, NotStarted } from "../../api/schemas/life.ts";
import { asTielineError } from "../../model/errors.ts";
import { agentTable, presentAgent } from "../output/agentTable.ts";
import { agentPrograms, command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { canAsk, confirm } from "../input/confirm.ts";
import { complainOf } from "../output/notStarted.ts";
import { table, type Cell } from "../output/table.ts";
import type { Lines, Terminal } from "../output/terminal.ts";

const args = [{ name: "pane", optional: true, field: "target" }] as const;
const programs = [...agentPrograms, "shell", "repl", "generic"];
const flags = {
  all: { operation: "discover" },
  name: { value: "NAME", field: "name" },
  provider: { value: "PROVIDER", suggest: programs, field: "provider", note: `one of ${programs.join(", ")}` },
  workspace: { value: "DIR", complete: "directory", field: "workspace" },
  role: { value: "ROLE", field: "role" },
  yes: { short: "y", summary: "with --all: adopt without asking" },
} as const;
const form = { name: "adopt", usage: ["adopt <pane|session> --name <name>", "adopt --all [--yes]"] };

export default command({
  ...form,
  group: "Agents",
  operation: "adopt",
  details: [
    "Name a tmux pane such as %14, or a session with one pane. A shell needs --provider shell and an " +
      "interpreter needs --provider repl, because they run what is typed. A program behind ssh or in a " +
      "container needs its own --provider.",
    "--all searches the panes of your tmux server and Claude Code's session registry in your home. It " +
      "shows how each agent can be reached and what can be proved there, and asks. Without a terminal it " +
      "only lists them; --yes adopts them. It exits with 4 if one of them could not be adopted.",
  ],
  args,
  flags,
  examples: [
    ["tieline adopt %14 --name engineer", "the program in pane %14"],
    ["tieline adopt %3 --name reviewer --provider claude-code --team web", "a Claude Code session, in team web"],
    ["tieline adopt --all", "all agent programs that it finds"],
  ],
  run: (context) => (context.flags.all ? adoptAll(context) : adoptOne(context)),
});

type Running = Context<typeof args, typeof flags>;

async function adoptOne({
  args: { pane },
  flags: { name, workspace, json },
  input,
  daemon,
  terminal,
}: Running): Promise<number> {
  if (pane === undefined) throw usage(form, "<pane|session> is missing");
  if (name === undefined) throw usage(form, "--name NAME is missing");
  // The path is the caller's: the daemon works elsewhere.
  const agent = await daemon.call("adopt", {
    ...input,
    target: pane,
    name,
    ...(workspace !== undefined && { workspace: resolve(workspace) }),
  });
  return presentAgent(agent, { flags: { json }, terminal });
}

async function adoptAll({ args: { pane }, flags: { name, yes, json }, daemon, terminal }: Running): Promise<number> {
  if (pane !== undefined || name !== undefined) throw usage(form, "--all finds panes and names by itself");
  const found = await daemon.call("discover", {});
  const fresh = found.filter((one) => one.agent === null);
  if (!json) await terminal.print(foundTable(found, terminal));
  const goesOn =
    fresh.length > 0 &&
    (yes ||
      (!json &&
        canAsk(terminal) &&
        (await confirm(`Adopt ${fresh.length === 1 ? "it" : `these ${fresh.length}`}?`, terminal))));
  if (!goesOn) {
    if (json) await terminal.json({ found, adopted: [], failed: [] });
    else if (fresh.length > 0)
      await terminal.print(terminal.paint("dim", "nothing was adopted; --yes does it without asking"));
    return 0;
  }
  const results = await Promise.all(fresh.map((one) => adoptFound(one, daemon)));
  const adopted = results.flatMap((result) => ("adopted" in result ? [result.adopted] : []));
  const failed = results.flatMap((result) => ("failed" in result ? [result.failed] : []));
  if (json) await terminal.json({ found, adopted, failed });
  else {
    if (adopted.length > 0)
      await terminal.print(["", ...agentTable(adopted, terminal, { now: terminal.now(), teams: true })]);
    await complainOf(failed, terminal);
  }
  return failed.length === 0 ? 0 : 4;
}

/** One that ended since it was found does not keep the others from it. */
async function adoptFound(
  { pane, name, provider }: FoundView,
  daemon: Running["daemon"],
): Promise<{ adopted: AgentView } | { failed: NotStarted }> {
  try {
    return { adopted: await daemon.call("adopt", { target: pane, name, provider }) };
  } catch (thrown) {
    const { code, message, remedy } = asTielineError(thrown);
    return { failed: { agent: name, code, message, remedy } };
  }
}

function foundTable(found: readonly FoundView[], { paint, width }: Terminal): Lines {
  if (found.length === 0) return paint("dim", "no agent program runs on this tmux server");
  const rows = found.map((one): Cell[] => [
    { text: one.pane },
    { text: one.session },
    { text: one.provider === "generic" ? one.program : one.provider },
    one.agent === null ? { text: one.name, style: "bold" } : { text: `already ${one.agent}`, style: "dim" },
    { text: one.foundBy.join(", ") },
    { text: one.endpoints.map(({ transport }) => transport).join(", ") },
    { text: one.endpoints.map(({ bestProof }) => bestProof).join(", ") },
  ]);
  return table(["PANE", "SESSION", "PROGRAM", "NAME", "FOUND BY", "REACHED BY", "PROOF"], rows, paint, width());
}
