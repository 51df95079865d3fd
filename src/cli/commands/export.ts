import { command } from "../input/args.ts";
import { momentForms, pastMoment } from "../input/times.ts";

export default command({
  name: "export",
  group: "Messages",
  operation: "export",
  usage: ["export"],
  details: [
    'A line is {"type":"message",…} or {"type":"transition",…}; the transitions of a message follow it, ' +
      "oldest first. What the retention settings removed is not there any more.",
  ],
  args: [],
  flags: {
    since: {
      value: "TIME",
      parse: pastMoment,
      field: "since",
      note: momentForms,
    },
  },
  examples: [
    ["tieline export --since 1d > audit.jsonl", "yesterday, for the record"],
    ['tieline export | jq -r \'select(.type == "transition" and .to == "failed") | .tag\'', "all failed messages"],
  ],
  async run({ input, daemon, terminal }) {
    let page = await daemon.call("export", input);
    for (;;) {
      for (const { transitions, ...message } of page.messages) {
        await terminal.json({ type: "message", ...message });
        for (const transition of transitions)
          await terminal.json({ type: "transition", tag: message.tag, ...transition });
      }
      if (!page.more) return 0;
      page = await daemon.call("export", { after: page.last });
    }
  },
});
