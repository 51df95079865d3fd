/** The whole switch in this process, on a tmux server of its own, for tests that play with agents in panes. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { adopt, type AdoptParts } from "../agents/adopt/adopt.ts";
import type { TmuxServers } from "../agents/layout/servers.ts";
import type { StatusMonitor } from "../agents/status/statusMonitor.ts";
import { homeOf } from "../client/home.ts";
import { adoptPartsOf } from "../compose/api.ts";
import { compose, type Composition } from "../compose/index.ts";
import type { Panes } from "../compose/panes.ts";
import type { Courier } from "../delivery/courier.ts";
import type { Spine } from "../events/spine.ts";
import { layHookPlace } from "../intake/hooks/place.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { userId, userName, type Agent } from "../model/agent.ts";
import type { Delivery } from "../model/delivery.ts";
import type { Receipt } from "../model/receipt.ts";
import type { Router } from "../routing/router.ts";
import { direct, isListening, scriptedAgentCommand, type Script } from "./scriptedAgent.ts";
import { privateTmux, type PrivateTmux } from "./tmux.ts";
import { until } from "./until.ts";

export interface Stage extends AsyncDisposable {
  /** The home. */
  readonly root: string;
  readonly composition: Composition;
  /** What tests use. */
  readonly tieline: StageParts;
  readonly tmux: PrivateTmux;
  readonly faults: readonly string[];
  /** Runs a program in a window of its own and makes it an agent. */
  cast(name: string, command: readonly string[], options?: Casting): Promise<Cast>;
  /** A scripted agent, idle and adopted as a Claude Code. */
  scripted(name: string, options?: Casting): Promise<ScriptedCast>;
  send(to: string, body: string): Promise<Receipt>;
  deliveries(receipt: Receipt): readonly Delivery[];
  /** The delivery as soon as it satisfies; fails with its history instead. */
  delivered(receipt: Receipt, enough?: (delivery: Delivery) => boolean): Promise<Delivery>;
}

export interface StageParts extends AdoptParts {
  readonly mailbox: Mailbox;
  readonly events: Spine;
  readonly router: Router;
  readonly courier: Courier;
  readonly servers: TmuxServers;
  readonly tmux: Panes["tmux"];
  readonly statusMonitor: StatusMonitor;
}

export interface Casting {
  readonly provider?: string;
  readonly width?: number;
  readonly height?: number;
  /** Of the pane's window; the programs of a test share one session. */
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the program has come up, so that it may be adopted. */
  readonly ready?: () => boolean;
}

export interface Cast {
  readonly agent: Agent;
  readonly pane: string;
}

export interface ScriptedCast extends Cast {
  readonly dir: string;
  direct(script: Script): Promise<void>;
}

export interface StageOptions {
  /** Settings of the home. */
  readonly config?: object;
  /** Hears every command that is given to tmux. */
  readonly debug?: (line: string) => void;
}

const user = { id: userId, name: userName, team: "default", knownBy: "user" } as const;

export async function openStage({ config = {}, debug }: StageOptions = {}): Promise<Stage> {
  const tmux = await privateTmux();
  const root = mkdtempSync(join(tmpdir(), "tl-stage-"));
  writeFileSync(join(root, "config.json"), JSON.stringify(config));
  const faults: string[] = [];
  const composition = compose({
    root,
    mailboxPath: join(root, "mailbox.db"),
    backupsDirectory: join(root, "backups"),
    configPath: join(root, "config.json"),
    profilesDirectory: join(root, "agents"),
    screensDirectory: join(root, "screens"),
    socketsDirectory: homeOf({ TIELINE_HOME: root }).sockets,
    tmuxSocket: tmux.socketPath,
    env: tmux.env,
    binDirectory: join(root, "bin"),
    report: (context, fault) =>
      void faults.push(`${context}: ${fault instanceof Error ? fault.message : String(fault)}`),
    ...(debug && { debug }),
  });
  layHookPlace(composition.hooks.place, { socket: join(root, "daemon.sock"), bun: process.execPath });
  await composition.start();
  const { mailbox, events } = composition.storage;
  const { servers, tmux: transport, statusMonitor } = composition.panes;
  const tieline: StageParts = {
    ...{ ...adoptPartsOf(composition), mailbox, events, servers, tmux: transport, statusMonitor },
    router: composition.agents.router,
    courier: composition.delivery.courier,
  };

  const stage: Stage = {
    root,
    composition,
    tieline,
    tmux,
    faults,

    async cast(name, command, { provider, width = 100, height = 30, env = {}, ready = () => true } = {}) {
      const variables = Object.entries(env).flatMap(([key, value]) => ["-e", `${key}=${value}`]);
      const created = await tmux.tmux(
        "new-window",
        "-d",
        "-P",
        "-F",
        "#{pane_id} #{window_id}",
        ...variables,
        "--",
        "env",
        ...command,
      );
      const [pane = "", window = ""] = created.split(" ");
      await tmux.tmux("resize-window", "-t", window, "-x", String(width), "-y", String(height));
      await until(ready, `${name} to be ready`);
      const agent = await adopt(
        tieline.servers.at(tmux.socketPath),
        { target: pane, name, team: "default", provider },
        tieline,
      );
      return { agent, pane };
    },

    async scripted(name, options = {}) {
      const dir = join(root, name);
      mkdirSync(dir);
      const cast = await stage.cast(name, scriptedAgentCommand(dir), {
        provider: "claude-code",
        ready: () => isListening(dir),
        ...options,
      });
      await until(
        async () => (await tieline.statusMonitor.explain(cast.agent))?.state === "idle",
        `${name} to be idle`,
      );
      return { ...cast, dir, direct: (script) => direct(dir, script) };
    },

    async send(to, body) {
      return (await tieline.router.send({ to, body }, user)).receipt;
    },

    deliveries: ({ message }) => tieline.mailbox.receipt(message.id)?.deliveries ?? [],

    async delivered(receipt, enough = ({ state }) => ["delivered", "uncertain", "failed"].includes(state)) {
      let last: Delivery | undefined;
      await until(() => {
        last = stage.deliveries(receipt)[0];
        return last !== undefined && enough(last);
      }, `delivery of ${receipt.message.tag}`).catch((error: unknown) => {
        throw new Error(`${String(error)}; it is ${JSON.stringify(last)}; faults: ${faults.join("; ")}`);
      });
      return last!;
    },

    async [Symbol.asyncDispose]() {
      await composition[Symbol.asyncDispose]();
      await tmux[Symbol.asyncDispose]();
      rmSync(root, { recursive: true, force: true });
    },
  };
  return stage;
}
