import { command } from "../input/args.ts";
import { present } from "../output/present.ts";

export default command({
  name: "rm",
  group: "Agents",
  operation: "rm",
  usage: ["rm <agent>"],
  details: [
    "Mail that still waits for it cannot be delivered any more and goes back to its senders. With mail " +
      "waiting, --force is needed.",
  ],
  args: [{ name: "agent", complete: "agent", field: "agent" }],
  flags: { force: { field: "force" } },
  examples: [["tieline rm engineer", "stop delivering to engineer"]],
  async run({ input, flags, daemon, terminal }) {
    const removed = await daemon.call("rm", input);
    const lost =
      removed.failedDeliveries === 0
        ? ""
        : `   ${removed.failedDeliveries} waiting for it failed; see \`tieline dead\``;
    return present(removed, `${terminal.paint("green", "✓")} ${removed.name} removed${lost}`, { flags, terminal });
  },
});
