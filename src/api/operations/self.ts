import { existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Directory } from "../../agents/directory/directory.ts";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import { untrusted, type Trust } from "../../agents/trust/trust.ts";
import type { HomeConfig } from "../../config/home.ts";
import { projectFileName } from "../../config/project.ts";
import type { ProbingTransport } from "../../delivery/transports/port.ts";
import { shownUrl } from "../../events/nats/link.ts";
import type { NatsPublisher } from "../../events/nats/publisher.ts";
import type { Spine } from "../../events/spine.ts";
import type { Backups } from "../../mailbox/backups.ts";
import type { Mailbox } from "../../mailbox/port.ts";
import { isLive } from "../../model/agent.ts";
import { asTielineError } from "../../model/errors.ts";
import type { AgentId } from "../../model/ids.ts";
import type { Sender } from "../../model/message.ts";
import { listenersAt } from "../../os/listeners.ts";
import { thisUser } from "../../os/untrustedFile.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import type { Rights } from "../rights.ts";
import { Check } from "../schema.ts";
import { time } from "../schemas/fields.ts";
import { tmuxServerOf } from "../tmuxServerOf.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { wallClock } from "../../os/wallClock.ts";

export interface DaemonFacts {
  readonly version: string;
  readonly socket: string;
  readonly home: string;
  /** What the start found too open in the home, and closed. */
  readonly tightened: readonly string[];
  readonly startedAt: number;
  readonly stop: () => void;
  /** null: not open yet. */
  readonly loopback: () => { readonly port: number; readonly moved: { readonly why: string } | null } | null;
}

export interface SelfParts {
  readonly facts: DaemonFacts;
  readonly directory: Directory;
  readonly mailbox: Mailbox;
  readonly callers: Callers;
  readonly backups: Pick<Backups, "make" | "list" | "fault">;
  readonly servers: TmuxServers;
  readonly rights: Rights;
  readonly trust: Trust;
  /** Looks through a copy of the whole mailbox. */
  readonly checkMailbox: () => Promise<{
    readonly altered: readonly string[];
    readonly messages: number;
    readonly open: number;
  }>;
  readonly config: HomeConfig;
  readonly events: Spine;
  readonly nats: Pick<NatsPublisher, "state"> | null;
  readonly natsUrl: string | null;
  readonly tmux: ProbingTransport;
  readonly tmuxSocket: string;
}

export const selfOperations = [
  operation({
    name: "daemonStatus",
    summary: "Show the process of the daemon, its version and its load.",
    access: "open",
    input: z.object({}),
    output: z.object({
      running: z.literal(true),
      pid: z.number().int(),
      version: z.string(),
      socket: z.string(),
      home: z.string(),
      startedAt: time,
      agents: z.number().int(),
      waiting: z.number().int(),
      residentBytes: z.number(),
    }),
    async run(parts: SelfParts) {
      const { facts } = parts;
      const { version, socket, home, startedAt } = facts;
      return {
        running: true as const,
        pid: process.pid,
        version,
        socket,
        home,
        startedAt,
        agents: parts.directory.agents().length,
        waiting: parts.mailbox.waiting().reduce((sum, agent) => sum + parts.mailbox.pending(agent), 0),
        residentBytes: process.memoryUsage.rss(),
      };
    },
  }),

  operation({
    name: "daemonStop",
    summary: "Stop the daemon; nothing is lost.",
    access: "kill",
    input: z.object({}),
    output: z.object({ stopping: z.literal(true) }),
    async run(parts: SelfParts, _, { caller }) {
      const { callers, facts } = parts;
      await callers.allow(caller, "kill");
      facts.stop();
      return { stopping: true as const };
    },
  }),

  operation({
    name: "backup",
    summary: "Copy the mailbox to a file and check the copy.",
    access: "user",
    input: z.object({
      file: z
        .string()
        .startsWith("/")
        .optional()
        .describe(
          "a file that does not exist yet; default: a new one in `backups` of the home, where the oldest are removed",
        ),
    }),
    output: z.object({
      file: z.string(),
      at: time,
      bytes: z.number().int(),
      messages: z.number().int(),
      altered: z.array(z.string()).describe("tags of messages that were altered on the disk"),
    }),
    async run(parts: SelfParts, { file }) {
      const { altered, ...made } = await parts.backups.make(file);
      return { ...made, altered: [...altered] };
    },
  }),

  operation({
    name: "doctor",
    summary: "Check everything that Tieline needs, and every endpoint.",
    access: "readable",
    input: z.object({}),
    output: z.array(Check),
    async run(parts: SelfParts, _, { caller }) {
      const { callers, facts, rights } = parts;
      const from = await callers.sender(caller);
      const socket = tmuxServerOf(from, caller, parts);
      const checks = [
        check("bun", async () => ok(`Bun ${Bun.version}`)),
        check("tmux", async () => ok(`tmux ${(await parts.servers.at(socket).version()).text}`)),
        check("tmux server", () => tmuxServer(parts, socket)),
        check("home", async () => privateHome(parts)),
        check("socket", async () => daemonSocket(facts.socket)),
        check("port", async () => loopbackPort(parts)),
        ...(rights.readsEverything(from)
          ? [check("mailbox", () => storedMessages(parts)), check("backups", async () => copies(parts))]
          : []),
        check("disk", async () => disk(facts.home)),
        check("clock", async () => clock()),
        check("events", async () => eventLog(parts)),
        check("nats", async () => natsServer(parts)),
        ...projects(parts, from).map(({ name, root }) => check(`project: ${name}`, async () => trusted(parts, root))),
        ...parts.directory
          .agents()
          .filter(({ id }) => rights.reads(from, id))
          .map((agent) => check(`endpoint: ${agent.team}:${agent.name}`, () => wayIn(parts, agent.id))),
      ];
      return Promise.all(checks);
    },
  }),
] as const;

function projects(parts: SelfParts, from: Sender): { name: string; root: string }[] {
  const { rights } = parts;
  if (!rights.readsEverything(from)) return [];
  return parts.directory
    .teams()
    .flatMap(({ name, root }) => (root !== null && existsSync(join(root, projectFileName)) ? [{ name, root }] : []));
}

function trusted(parts: SelfParts, root: string): Finding {
  const inspection = parts.trust.inspect(root);
  if (inspection.state === "trusted") return ok(`${root} is trusted`);
  const { message, remedy } = untrusted(inspection);
  return warning(message, remedy);
}

async function tmuxServer(parts: SelfParts, socket: string): Promise<Finding> {
  if (!(await parts.servers.at(socket).alive()))
    return warning(`no server at ${socket}`, "it is started with the first agent");
  const { pid } = await parts.servers.at(socket).identity();
  return ok(`pid ${pid} at ${socket}`);
}

function privateHome(parts: SelfParts): Finding {
  const { facts } = parts;
  const { home, tightened } = facts;
  return tightened.length === 0
    ? ok(home)
    : warning(tightened.join("; "), "check that nothing in the home was changed by another user");
}

function loopbackPort(parts: SelfParts): Finding {
  const { facts } = parts;
  const loopback = facts.loopback();
  if (loopback === null) return warning("not open yet", "try again in a moment");
  const { port, moved } = loopback;
  if (moved === null) return ok(`http://127.0.0.1:${port}`);
  return warning(
    `http://127.0.0.1:${port}, because ${moved.why}; every browser was signed out, and what names the old ` +
      "port does not reach Tieline",
    "run `tieline dash` for a new link; set http.port in config.json to choose the port yourself",
  );
}

async function storedMessages(parts: SelfParts): Promise<Finding> {
  const { altered, messages, open } = await parts.checkMailbox();
  if (altered.length === 0) return ok(`${messages} messages, all intact; ${open} open deliveries`);
  const detail =
    `${altered.length} of ${messages} messages were altered on the disk: ` +
    `${altered.slice(0, 5).join(", ")}${altered.length > 5 ? ", …" : ""}`;
  return warning(detail, "they are not delivered; ask for them to be sent again, and check the disk");
}

function copies(parts: SelfParts): Finding {
  const { fault } = parts.backups;
  const [newest] = parts.backups.list();
  const last = newest ? `the newest is ${newest.file}, ${new Date(newest.at).toISOString()}` : "none yet";
  if (fault !== null) return warning(`${last}; the last attempt failed: ${fault.message}`, fault.remedy);
  if (newest === undefined && parts.config.backup.everyHours === 0)
    return warning("none, and backup.everyHours is 0", "run `tieline backup` regularly, or set backup.everyHours");
  return ok(last);
}

function eventLog(parts: SelfParts): Finding {
  const { last, lost, problem } = parts.events;
  if (problem !== null)
    return warning(
      `not kept at present: ${problem}; ${lost} lost`,
      "mail is not affected; they are kept again as soon as the file can be written",
    );
  return lost === 0
    ? ok(last === 0 ? "none yet" : `the last is number ${last}`)
    : warning(`${lost} could not be written`, "see `tieline daemon logs`; a full disk is the usual cause");
}

/** Nothing depends on NATS, so its absence is only told. */
function natsServer(parts: SelfParts): Finding {
  if (parts.nats === null || parts.natsUrl === null) return unusedNats(parts.config.nats.enabled);
  const { connection, published, dropped, waiting, error } = parts.nats.state;
  const url = shownUrl(parts.natsUrl);
  const counts =
    `${published} events published, ${dropped} ` + `dropped${waiting === 0 ? "" : `, ${waiting} wait for the server`}`;
  if (connection === "unused" || connection === "open") return ok(`${url}: ${counts}`);
  return warning(
    `${url}: ${error ?? "the connection is broken"}; ${counts}`,
    "start the server, check `nats` in config.json, or set nats.enabled to false; nothing else depends on it",
  );
}

/** Every endpoint is probed, as far as that works without writing. */
async function wayIn(parts: SelfParts, id: AgentId): Promise<Finding> {
  const agent = parts.directory.agent(id)!;
  if (!isLive(agent))
    return warning(
      `not running${agent.stateReason ? `: ${agent.stateReason}` : ""}`,
      agent.launch ? "mail starts it" : `\`tieline rm ${agent.name}\` if it will not come back`,
    );
  if (agent.kind === "object" && agent.stateReason !== null) {
    return warning(
      agent.stateReason,
      "fix its code, then `tieline trust` in its project; the next message loads it again. `tieline daemon " +
        "logs` shows its errors",
    );
  }
  const endpoint = tmuxEndpoint.of(agent);
  if (endpoint === undefined) return ok(agent.endpoints.map(({ transport }) => transport).join(", "));
  const readiness = await parts.tmux.probe(agent, endpoint);
  if (readiness.kind === "ready") return ok(`${endpoint.transport} ${endpoint.locator.pane}: ready`);
  return warning(
    readiness.kind === "held" ? readiness.hold.detail : readiness.detail,
    `\`tieline read ${agent.name}\` shows its screen`,
  );
}

const natsPort = 4_222;

/** A server that is there might be anyone's: it is named, and not connected to. */
function unusedNats(enabled: boolean): Finding {
  if (!enabled) return ok("switched off: nats.enabled is false");
  const [listener] = listenersAt(natsPort);
  if (listener === undefined) return ok("not configured, so nothing is published");
  const owner = listener.uid === thisUser() ? "one of your programs" : `a program of uid ${listener.uid}`;
  return ok(
    `not configured, so nothing is published; ${owner} listens at localhost:${natsPort}, set nats.url in ` +
      "config.json to publish events to it",
  );
}

type Finding = Pick<Check, "status" | "detail" | "remedy">;

const ok = (detail: string): Finding => ({ status: "ok", detail, remedy: null });
const warning = (detail: string, remedy: string): Finding => ({ status: "warning", detail, remedy });

async function check(name: string, run: () => Promise<Finding>): Promise<Check> {
  try {
    return { name, ...(await run()) };
  } catch (thrown) {
    const { message, remedy } = asTielineError(thrown);
    return { name, status: "failed", detail: message, remedy };
  }
}

function daemonSocket(path: string): Finding {
  const mode = statSync(path).mode & 0o777;
  return mode === 0o600 ? ok(path) : warning(`${path} has mode ${mode.toString(8)}`, `chmod 600 ${path}`);
}

const leastFreeBytes = 100 * 1024 * 1024;

function disk(home: string): Finding {
  const { bavail, bsize } = statfsSync(home);
  const free = bavail * bsize;
  const text = `${Math.round(free / 1024 / 1024)} MB free for ${home}`;
  return free > leastFreeBytes ? ok(text) : warning(text, "free some space; a full disk refuses messages");
}

/** Times in receipts are wall-clock times; a clock that jumps makes them puzzling. */
function clock(): Finding {
  const { at, setByMs } = wallClock();
  return Math.abs(setByMs) < 2_000
    ? ok(new Date(at).toISOString())
    : warning(
        `the clock moved by ${Math.round(Math.abs(setByMs))} ms since the daemon started`,
        "check time synchronisation",
      );
}
