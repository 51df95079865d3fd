import type { EventFilter } from "../../model/event.ts";
import { command } from "../args.ts";
import { callerOf } from "../connect.ts";
import { eventLine } from "../event-line.ts";
import { stopSignal } from "../stop-signal.ts";
import { count, positiveDurationMs } from "../times.ts";

export default command({
  name: "events",
  group: "Tieline itself",
  summary: "show what happened, and what happens now",
  usage: ["events"],
  details: ["Every step of every message, every change of an agent. With --follow nothing is missed or repeated between what happened and what happens."],
  args: [],
  flags: {
    follow: { short: "f", summary: "go on with what happens, until Ctrl-C" },
    agent: { value: "AGENT", complete: "agent", summary: "only what names this agent" },
    type: { value: "TYPES", parse: (text: string) => text.split(","), summary: "only these types; delivery is delivery.handed and all the others" },
    since: { value: "TIME", parse: positiveDurationMs, summary: "everything of the last 10m, 2h, 1d" },
    limit: { short: "n", value: "N", parse: count, summary: "without --since: how many of the newest; 100 when left out" },
  },
  examples: [
    ["tieline events -f", "watch everything"],
    ["tieline events --type delivery.failed,route.denied --since 1d", "what went wrong since yesterday"],
    ["tieline events -f --agent engineer --json | jq -c .type", "one JSON object for each line"],
  ],
  async run({ flags, env, home, daemon, terminal }) {
    const filter: EventFilter = {
      ...(flags.agent !== undefined && { agent: flags.agent }),
      ...(flags.team !== undefined && { team: flags.team }),
      ...(flags.type !== undefined && { types: flags.type }),
    };
    const show = async (events: Parameters<typeof eventLine>[0][]): Promise<void> => {
      for (const event of events) await (flags.json ? terminal.json(event) : terminal.print(eventLine(event, terminal.paint, Date.now())));
    };

    const start = flags.since === undefined ? { limit: flags.limit ?? 100 } : { since: Date.now() - flags.since };
    let page = await daemon.call("events", { ...filter, ...start });
    await show(page.events);
    while (page.more) {
      page = await daemon.call("events", { ...filter, after: page.last });
      await show(page.events);
    }
    if (!flags.follow) return 0;
    const { streamEvents } = await import("../../client/stream.ts");
    const caller = await callerOf(home, env, flags.team);
    for await (const event of streamEvents({ socket: home.socket }, caller, { ...filter, after: page.last }, stopSignal())) await show([event]);
    return 0;
  },
});
