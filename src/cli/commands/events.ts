import { TielineError } from "../../model/errors.ts";
import { eventTypes, isOfType } from "../../model/event.ts";
import { didYouMean, nearNames } from "../../model/near.ts";
import { command } from "../input/args.ts";
import { callerOf } from "../daemon/connect.ts";
import { eventLine } from "../output/eventLine.ts";
import { namesFor, qualified } from "../output/names.ts";
import { stopSignal } from "../input/stopSignal.ts";
import { count, momentForms, pastMoment } from "../input/times.ts";

const eventGroups = [...new Set(eventTypes.map((type) => type.split(".")[0]!))];

export default command({
  name: "events",
  group: "Tieline itself",
  operation: "events",
  usage: ["events"],
  details: [
    "Shows every step of every message and every change of an agent, in all teams. --team selects events " +
      "of one team or about its agents. --follow continues without gaps or repeats.",
  ],
  args: [],
  flags: {
    follow: { short: "f", summary: "keep printing new events, until Ctrl-C" },
    agent: { value: "AGENT", complete: "agent", field: "agent" },
    type: {
      value: "TYPES",
      parse: typesIn,
      suggest: [...eventTypes, ...eventGroups],
      field: "types",
    },
    team: { value: "TEAM", complete: "team", field: "team" },
    since: { value: "TIME", parse: pastMoment, field: "since", note: momentForms },
    limit: { short: "n", value: "N", parse: count, field: "limit", note: "default 100" },
  },
  examples: [
    ["tieline events -f", "all events, live"],
    ["tieline events --type delivery.failed,route.denied --since 1d", "what went wrong since yesterday"],
    ["tieline events -f --agent engineer --json | jq -c .type", "one JSON object for each line"],
  ],
  async run({ flags, input, env, home, daemon, terminal }) {
    const { since, limit = 100, ...filter } = input;
    const nameOf = flags.team === undefined ? qualified : namesFor(flags.team);
    const show = async (events: Parameters<typeof eventLine>[0][]): Promise<void> => {
      for (const event of events)
        await (flags.json
          ? terminal.json(event)
          : terminal.print(eventLine(event, nameOf, terminal.paint, terminal.now())));
    };

    const start = since === undefined ? { limit } : { since };
    let page = await daemon.call("events", { ...filter, ...start });
    await show(page.events);
    while (page.more) {
      page = await daemon.call("events", { ...filter, after: page.last });
      await show(page.events);
    }
    if (!flags.follow) return 0;
    const { streamEvents } = await import("../../client/stream.ts");
    const caller = await callerOf(home, env, flags.team);
    const { attendedStream } = await import("../daemon/attend.ts");
    const open = (signal: AbortSignal) =>
      streamEvents({ socket: home.socket }, caller, { ...filter, after: page.last }, signal);
    for await (const event of attendedStream(home, stopSignal(), open)) await show([event]);
    return 0;
  },
});

/** A type that nothing is of would show an empty list, as if nothing had happened. */
function typesIn(text: string): string[] {
  const words = text.split(",").map((word) => word.trim());
  for (const word of words) {
    if (eventTypes.some((type) => isOfType(type, word))) continue;
    throw new TielineError(
      "USAGE",
      "--type: there is no event " +
        `${JSON.stringify(word)}${didYouMean(nearNames(word, [...eventTypes, ...eventGroups]))}`,
      {
        remedy: `the types are ${eventTypes.join(", ")}, or their first words`,
      },
    );
  }
  return words;
}
