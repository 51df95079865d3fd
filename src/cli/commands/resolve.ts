import type { ResolutionView } from "../../api/schemas/routing.ts";
import { errorCodes, type ErrorCode } from "../../model/errors.ts";
import { command } from "../input/args.ts";
import { errorText, type Paint } from "../output/terminal.ts";

export default command({
  name: "resolve",
  group: "Agents",
  operation: "resolve",
  usage: ["resolve <address>"],
  details: [
    "Uses the same rules as `send`, for your team and your edges, without sending anything. If the " +
      "address does not resolve, it exits as `send` would.",
  ],
  args: [{ name: "address", complete: "agent", field: "address" }],
  flags: { explain: { summary: "show each rule, and why it matched or not" } },
  examples: [
    ["tieline resolve engineer --explain", "which rule resolves the name"],
    ["tieline resolve @reviewers --json | jq -r '.agents[].name'", "the members of an alias"],
  ],
  async run({ input, flags, daemon, terminal }) {
    const resolution = await daemon.call("resolve", input);
    const { error } = resolution;
    if (flags.json) await terminal.json(resolution);
    else {
      const lines = [
        ...(flags.explain ? explanation(resolution, terminal.paint) : []),
        ...meaning(resolution, terminal.paint),
      ];
      if (lines.length > 0) await terminal.print(lines);
      if (error) await terminal.complain(errorText(error));
    }
    return error ? errorCodes[error.code as ErrorCode].exit : 0;
  },
});

function explanation({ steps }: ResolutionView, paint: Paint): string[] {
  const width = Math.max(0, ...steps.map(({ rule }) => rule.length));
  return steps.map(({ rule, says, hit, why }) => {
    const mark = hit ? paint("green", "✓") : paint("dim", "·");
    return `${mark} ${rule.padEnd(width)}   ${why}   ${paint("dim", says)}`;
  });
}

function meaning({ address, agents, missing, error, team }: ResolutionView, paint: Paint): string[] {
  if (error) return [];
  const found = agents.map((agent) => {
    const where = agent.team === team || agent.team === "" ? agent.name : `${agent.team}:${agent.name}`;
    const denied = agent.permitted ? "" : `   ${paint("yellow", "you may not write to it")}`;
    return `${paint("bold", where)}   ${agent.state}${denied}`;
  });
  const absent = missing.map(({ name, code, message }) => `${paint("red", "✗")} ${name}   ${code}: ${message}`);
  return found.length + absent.length === 0 ? [`${address} has no recipients at the moment`] : [...found, ...absent];
}
