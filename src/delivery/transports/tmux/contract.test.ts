import { join } from "node:path";
import { anAgent } from "../../../testing/agents.ts";
import { promptAgentPath, submissions } from "../../../testing/promptAgent.ts";
import { privateTmux } from "../../../testing/tmux.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { until } from "../../../testing/until.ts";
import { snapshotPane } from "../../../tmux/pane.ts";
import { systemProcesses } from "../../../os/processes.ts";
import { TmuxServer } from "../../../tmux/server.ts";
import { newWindow } from "../../../tmux/session.ts";
import { tmuxEndpoint } from "../paneEndpoint.ts";
import { tmuxTransport } from "./transport.ts";
import { PaneWatch } from "./watch.ts";
import { providers } from "../../../compose/providers.ts";

transportContract(
  "tmux",
  async () => {
    const tmux = await privateTmux();
    const server = new TmuxServer(tmux);
    const processes = systemProcesses();
    const watches = new PaneWatch(() => undefined);
    const log = join(tmux.dir, "submitted.jsonl");
    const { pane } = await newWindow(server, {
      session: "main",
      name: "w",
      command: [process.execPath, promptAgentPath, log],
    });
    await until(async () => (await snapshotPane(server, pane)).plain.join("").includes(">"), "the prompt");
    const { pane: facts } = await snapshotPane(server, pane);
    const program = (await processes.read(facts.pid))!;
    const endpoint = tmuxEndpoint.make({
      socket: server.socketPath,
      serverPid: facts.serverPid,
      serverStartedAt: facts.serverStartedAt,
      pane,
      panePid: facts.pid,
      agentPid: program.pid,
      agentStartMark: program.startMark,
      terminal: { restingLine: ">", quietMs: 20 },
    });
    const agent = anAgent({ name: "ana", endpoints: [endpoint] });
    return {
      transport: tmuxTransport({
        providers,
        server: () => server,
        processes,
        watches,
        observed: () => undefined,
        report: () => undefined,
        agent: () => agent,
      }),
      agent,
      endpoint,
      received: () => submissions(log),
      vanish: async () => void (await tmux.tmux("kill-pane", "-t", pane)),
      async [Symbol.asyncDispose]() {
        await watches.close();
        await server.close();
        await tmux[Symbol.asyncDispose]();
      },
    };
  },
  { remembers: true, vanished: "gone" },
);
