import type { Output } from "../../api/schema.ts";
import { command } from "../input/args.ts";
import { namesIn, type Name } from "../output/names.ts";
import { present } from "../output/present.ts";
import type { Lines, Paint } from "../output/terminal.ts";

export default command({
  name: "prune",
  group: "Agents",
  operation: "prune",
  usage: ["prune"],
  details: [
    "Removes agents whose pane was closed or whose program exited. Stopped and killed agents are " +
      "suspended and stay.",
    "An agent with mail, or with a conversation that `tieline resume` can continue, is kept and listed " +
      "with the reason. --force removes it too, and its mail bounces.",
  ],
  args: [],
  flags: {
    all: { short: "a", field: "all" },
    force: { field: "force" },
  },
  examples: [
    ["tieline prune", "in this team"],
    ["tieline prune --all --force", "in every team, with their mail"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const result = await daemon.call("prune", input);
    const nameOf = await namesIn(
      undefined,
      [...result.removed, ...result.kept].map(({ team }) => team),
      daemon,
    );
    return present(result, resultLines(result, nameOf, terminal.paint), { flags, terminal });
  },
});

function resultLines({ removed, kept }: Output<"prune">, nameOf: Name, paint: Paint): Lines {
  if (removed.length + kept.length === 0) return paint("dim", "nothing is gone");
  const lost = (failed: number): string =>
    failed === 0 ? "" : `   ${failed} waiting for it failed; see \`tieline dead\``;
  return [
    ...removed.map(
      ({ team, name, failedDeliveries }) =>
        `${paint("green", "✓")} ${nameOf(team, name)} removed${lost(failedDeliveries)}`,
    ),
    ...kept.map(({ team, name, why }) => `${paint("yellow", "·")} ${nameOf(team, name)} kept: ${why}`),
  ];
}
