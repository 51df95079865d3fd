import { resolve } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import { canAsk } from "../input/confirm.ts";
import { askForTrust, trustLines } from "../steps/trusting.ts";

export default command({
  name: "trust",
  group: "Project",
  operation: "trust",
  usage: ["trust [directory] [--yes] [--show]"],
  details: [
    "Files of a project (tieline.yaml, .tieline/agents, modules of objects) start nothing until you " +
      "trust what they can start: commands, arguments, environment, objects, sandboxes, permissions, " +
      "`may:`, and prompts of agents that act without asking. `tieline up` asks the same question, and " +
      "`tieline init` trusts what it writes.",
    "If one of these changes, Tieline asks again and shows the difference. Changes of the topology, " +
      "aliases, roles, descriptions, and prompts of agents that ask before they act need no trust.",
    "Only you can trust a project, on the command line; agents and the dashboard cannot. Exits with 3 if " +
      "you decline.",
  ],
  args: [{ name: "directory", optional: true, complete: "directory", field: "directory" }],
  flags: {
    yes: { short: "y", summary: "do not ask" },
    show: { operation: "trustShow" },
  },
  examples: [
    ["tieline trust", "what this project can start; asks"],
    ["tieline trust --show", "the same, without a question"],
    ["tieline trust ~/work/web --yes", "in a script, after you have read it"],
  ],
  async run({ args, flags, daemon, terminal }) {
    const view = await daemon.call("trustShow", { directory: resolve(args.directory ?? "") });
    const done = view.state === "trusted" || flags.show;
    if (flags.json) {
      const result =
        done || !flags.yes ? view : await daemon.call("trust", { directory: view.root, digest: view.digest });
      await terminal.json(result);
      return flags.show || result.state === "trusted" ? 0 : 3;
    }
    if (done || view.state === "exposed") await terminal.print(trustLines(view, terminal));
    if (done) return 0;
    if (view.state === "exposed") return 3;
    const tick = terminal.paint("green", "✓");
    if (flags.yes) {
      await terminal.print(trustLines(view, terminal));
      await daemon.call("trust", { directory: view.root, digest: view.digest });
    } else if (!canAsk(terminal)) throw cannotAsk(view.file);
    else if (!(await askForTrust(view, { daemon, terminal }))) {
      await terminal.print("Not trusted. Nothing is started from it.");
      return 3;
    }
    await terminal.print(`${tick} ${view.root} is trusted`);
    return 0;
  },
});

const cannotAsk = (file: string): TielineError =>
  new TielineError("UNTRUSTED", `${file} is not trusted, and there is no terminal to ask on`, {
    remedy: "read what `tieline trust --show` prints; then `tieline trust --yes`",
    operands: { file },
  });
