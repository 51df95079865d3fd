import { version } from "../../../package.json";
import { command } from "../input/args.ts";
import { connect } from "../daemon/connect.ts";

export default command({
  name: "mcp",
  group: "Tieline itself",
  summary: "Run the MCP server on stdin and stdout.",
  usage: ["mcp"],
  details: [
    "`tieline setup --mcp` registers it with an agent program, which then starts it. The caller is " +
      "identified by TIELINE_TOKEN, by its session or thread, by its process, or by its pane.",
  ],
  args: [],
  flags: {},
  examples: [["tieline setup --mcp claude", "let Claude Code start it"]],
  async run({ flags, env, home, terminal }) {
    const [{ serveStdio }, { modelsCaller }] = await Promise.all([
      import("../../mcp/stdio.ts"),
      import("../../mcp/caller.ts"),
    ]);
    await serveStdio({
      version,
      stdin: process.stdin,
      stdout: process.stdout,
      clientFor: (threadId) => connect(home, env, { team: flags.team, as: (caller) => modelsCaller(caller, threadId) }),
      report: (context, fault) => void terminal.complain(`${context}: ${String(fault)}`),
    });
    return 0;
  },
});
