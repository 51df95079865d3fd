import { existsSync, rmSync } from "node:fs";
import { leaveInSpool, readSpooled } from "../../intake/hooks/spool.ts";
import { command } from "../args.ts";

export default command({
  name: "hook",
  group: "Tieline itself",
  summary: "answer an agent program's hook (run by the hook itself)",
  usage: ["hook <file>"],
  details: ["Installed by `tieline setup --hooks`. It prints the waiting mail for the hook's session, starts no daemon, and always exits with 0."],
  args: [{ name: "file", summary: "the hook's call, as the hook script wrote it down", complete: "file" }],
  flags: {},
  examples: [["tieline hook ~/.tieline/hooks/spool/4711.call", "what the hook script runs when mail waits"]],
  async run({ args: { file }, runningDaemon, terminal }) {
    try {
      const { provider, payload, caller } = readSpooled(file);
      const { answer, receipt } = await runningDaemon.call("hook", { provider, payload, ...caller });
      if (answer !== null) await terminal.json(answer);
      if (receipt !== null) await runningDaemon.call("hookWritten", { receipt });
      rmSync(file, { force: true });
    } catch {
      // The agent must go on. What it did is left for the next daemon to read.
      if (existsSync(file)) leaveInSpool(file);
    }
    return 0;
  },
});
