import { command } from "../input/args.ts";
import { table } from "../output/table.ts";
import { span } from "../input/times.ts";

export default command({
  name: "metrics",
  group: "Agents",
  operation: "metrics",
  usage: ["metrics"],
  details: [
    'An agent reports with `tieline send metrics \'{"action":"state_report","data":{…}}\'` and counts with ' +
      '`{"action":"count","name":"builds"}`. The team needs `objects: { metrics: }` in its tieline.yaml.',
  ],
  args: [],
  flags: {},
  examples: [
    ["tieline metrics", "the last report of each agent"],
    ["tieline metrics --json | jq '.counters'", "the counters, for a script"],
  ],
  async run({ flags, daemon, terminal }) {
    const metrics = await daemon.call("metrics", {});
    if (flags.json) {
      await terminal.json(metrics);
      return 0;
    }
    const { paint } = terminal;
    const width = terminal.width();
    const now = terminal.now();
    const reports = metrics.reports.map(({ agent, reportedAt, count, data }) => [
      { text: agent },
      { text: `${span(now - reportedAt)} ago` },
      { text: String(count) },
      { text: JSON.stringify(data) },
    ]);
    const counters = Object.entries(metrics.counters).map(([name, value]) => [{ text: name }, { text: String(value) }]);
    if (reports.length > 0) await terminal.print(table(["AGENT", "REPORTED", "TIMES", "STATE"], reports, paint, width));
    if (counters.length > 0) await terminal.print(table(["COUNTER", "VALUE"], counters, paint, width));
    if (reports.length + counters.length === 0) await terminal.print(paint("dim", "nothing was reported yet"));
    return 0;
  },
});
