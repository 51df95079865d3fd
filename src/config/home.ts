import { z } from "zod";
import { copyModes } from "../model/profile.ts";
import { settingsRules, untrustedText } from "../os/untrustedFile.ts";
import { check } from "./check.ts";
import { parseJson, type Sourced } from "./text.ts";

/** Every number has a range: what is far outside of it is a slip, and some would stop everything. */
const milliseconds = (least: number, most: number) => z.int().min(least).max(most);
const count = (least: number, most = 1_000_000) => z.int().min(least).max(most);
const hourMs = 3_600_000;

/** `config.json` in the home: every key, what it does, and what holds when nobody sets it. */
export const HomeConfig = z.strictObject({
  session: section({
    name: z
      .string()
      .min(1)
      .default("tieline")
      .describe("The tmux session of the team `default`; other teams get a session of their own name."),
    defaultWindow: z
      .string()
      .min(1)
      .default("shell")
      .describe("The name of the window with a plain shell in each session."),
    autoCreate: z.boolean().default(true).describe("Create a missing session or window instead of refusing."),
    naming: z
      .enum(["window", "session"])
      .default("window")
      .describe(
        "`window`: one session per team with a window per agent. `session`: one session per agent, " +
          "`agent-{team}-{name}`.",
      ),
  }),
  terminal: section({
    execTimeout: milliseconds(100, hourMs)
      .default(120_000)
      .describe("How long a command that Tieline runs may take, in milliseconds."),
    readLines: count(1, 100_000)
      .default(100)
      .describe("How many lines `tieline read` prints, and how far back a tag is searched in a pane."),
  }),
  logging: section({
    tmuxDebug: z
      .boolean()
      .default(false)
      .describe("Write every tmux command, by its name, and the size of its answer to the daemon's log."),
    maxBytes: count(1024, 2 ** 40)
      .default(5_242_880)
      .describe("The daemon's log is rotated when it is larger than this."),
    keep: count(0, 1_000).default(3).describe("How many rotated logs are kept."),
  }),
  delivery: section({
    timeoutMs: milliseconds(1, hourMs)
      .default(5000)
      .describe("How long one attempt may look for its own text in a pane before it is uncertain."),
    retries: count(0, 1_000)
      .default(2)
      .describe(
        "How often an attempt that wrote nothing is repeated after an error before the message is a dead letter.",
      ),
    pollIntervalMs: milliseconds(10, 60_000)
      .default(200)
      .describe("How often to look where the system gives no signal; nowhere else."),
    readyTimeoutMs: milliseconds(1, hourMs)
      .default(30_000)
      .describe("How long to wait for a pane to become ready before a sender who waits is told why it is not."),
    quietMs: milliseconds(0, 60_000)
      .default(300)
      .describe("How long a generic program, or Gemini CLI, must have written nothing to count as idle."),
    policy: z
      .enum(["one", "both"])
      .default("one")
      .describe(
        "`one`: a message goes one way. `both`: to a member of a Claude Code team that runs in a pane of " +
          "yours it goes to its inbox and its pane; the tag shows that it is the same.",
      ),
    copyMode: z
      .enum(copyModes)
      .default("leave")
      .describe(
        "A pane in copy mode: `leave` waits while somebody views the pane and ends copy mode when nobody " +
          "does, `hold` always waits.",
      ),
  }),
  guards: section({
    maxHops: count(1).default(8).describe("How many messages in a row may answer each other without a user's word."),
    perPairPerMinute: count(1).default(20).describe("How many messages a minute one agent may send to one other."),
    perSenderPerMinute: count(1).default(120).describe("How many messages a minute one agent may send in all."),
  }),
  retention: section({
    maxAgeDays: z
      .number()
      .positive()
      .max(36_500)
      .default(30)
      .describe("Finished messages and events older than this are removed."),
    maxMegabytes: z
      .number()
      .positive()
      .max(1_048_576)
      .default(512)
      .describe(
        "How large the mailbox may get. Near this limit the oldest finished messages are removed; what " +
          "waits, was delivered within the last hour or is unanswered stays, and when there is no room beside " +
          "it new messages are refused.",
      ),
    eventsMegabytes: z
      .number()
      .positive()
      .max(1_048_576)
      .default(128)
      .describe("The oldest events are removed when they take more than this."),
  }),
  backup: section({
    everyHours: z
      .number()
      .min(0)
      .max(8_760)
      .default(24)
      .describe(
        "How often the mailbox is copied to `backups` in the home, if it has changed. `0`: only by `tieline backup`.",
      ),
    keep: count(1, 1_000).default(3).describe("How many of these copies are kept."),
    maxMegabytes: z
      .number()
      .positive()
      .max(1_048_576)
      .default(1_024)
      .describe("How much they may take together. The oldest are removed first; the newest always stays."),
  }),
  spawn: section({
    readyTimeoutMs: milliseconds(1, hourMs)
      .default(15_000)
      .describe("How long a started agent may take to become ready; its mail then stays queued and says so."),
    perMinute: count(1, 10_000).default(10).describe("How many agents mail may start in a minute."),
  }),
  nats: section({
    enabled: z.boolean().default(true).describe("`false`: publish nothing, even if the environment names a server."),
    url: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe(
        "The NATS server that events are published to, such as `nats://localhost:4222`; `null`: none. " +
          "`TIELINE_NATS_URL` or `GENIE_NATS_URL` in the daemon's environment come first.",
      ),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "words of letters, digits, _ and -, with dots between")
      .default("tieline")
      .describe("What every subject begins with."),
    credentialsFile: z.string().min(1).nullable().default(null).describe("A `.creds` file."),
    nkeyFile: z.string().min(1).nullable().default(null).describe("A file with an NKEY seed."),
    tlsCaFile: z
      .string()
      .min(1)
      .nullable()
      .default(null)
      .describe("Whom to trust, instead of the system's authorities."),
    tlsCertFile: z.string().min(1).nullable().default(null).describe("Our certificate, if the server wants one."),
    tlsKeyFile: z.string().min(1).nullable().default(null).describe("Its key."),
  }),
  claudeTeams: section({
    register: z
      .boolean()
      .default(true)
      .describe(
        "Register agents as members of the Claude Code team that has their team's name, or that one of them " +
          "leads, so that its own members can write to them.",
      ),
    layout: z
      .enum(["inboxes", "drop"])
      .default("inboxes")
      .describe(
        "Where mail of Claude Code teams lies. `inboxes`: `inboxes/<member>.json`, as Claude Code reads it. " +
          "`drop`: the older `inbox/<member>/msg-*.json`.",
      ),
  }),
  http: section({
    port: z
      .int()
      .min(1)
      .max(65_535)
      .nullable()
      .default(null)
      .describe(
        "The loopback port of the dashboard and of the HTTP API. `null`: drawn once and kept in the file " +
          "`port` of the home.",
      ),
  }),
});
export type HomeConfig = z.output<typeof HomeConfig>;

/** A section that is left out has all its defaults. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as never);
}

export const defaultHomeConfig = (): HomeConfig => HomeConfig.parse({});

/** The home's settings; a home without the file has the defaults. */
export function loadHomeConfig(file: string): HomeConfig {
  const sourced = readSource(file);
  return sourced ? check(HomeConfig, sourced) : defaultHomeConfig();
}

function readSource(file: string): Sourced | null {
  const text = untrustedText(file, settingsRules());
  return text === null ? null : parseJson(file, text);
}
