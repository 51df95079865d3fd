import { TielineError } from "../../model/errors.ts";
import { command } from "../args.ts";

export default command({
  name: "demo",
  group: "Tieline itself",
  summary: "see it work: scripted agents that write to each other",
  usage: ["demo"],
  args: [],
  flags: {},
  examples: [["tieline demo", "needs no model and no key"]],
  async run() {
    throw new TielineError("NOT_INSTALLED", "the demo is not part of this build", { remedy: "use a newer version" });
  },
});
