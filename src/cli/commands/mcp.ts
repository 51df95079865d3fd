import { version } from "../../../package.json";
import { command } from "../args.ts";
import { connect } from "../connect.ts";

export default command({
  name: "mcp",
  group: "Tieline itself",
  summary: "speak MCP on stdin and stdout, for an agent program's configuration",
  usage: ["mcp"],
  details: [
    "`tieline setup --mcp` writes the registration. Who calls is known by TIELINE_TOKEN, by the program's " +
      "session or thread, by its process or its pane; a program that Tieline does not know is told how to " +
      "become known.",
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
