import { z } from "zod";
import { copyModes } from "../model/profile.ts";
import { settingsRules, untrustedText } from "../os/untrustedFile.ts";
import { check } from "./check.ts";
import { parseJson, type Sourced } from "./text.ts";

/** Every number has a range: values far outside are slips, and some would stop everything. */
const milliseconds = (least: number, most: number) => z.int().min(least).max(most);
const count = (least: number, most = 1_000_000) => z.int().min(least).max(most);
const hourMs = 3_600_000;

/** `config.json` in the home: every key, what it does, and its default. */
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
    autoCreate: z.boolean().default(true).describe("Create a missing session or window; otherwise it is an error."),
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
      .describe("Timeout of commands that Tieline runs, in milliseconds."),
    readLines: count(1, 100_000)
      .default(100)
      .describe("How many lines `tieline read` prints, and how far back Tieline searches a pane for a tag."),
  }),
  logging: section({
    tmuxDebug: z.boolean().default(false).describe("Log the name of every tmux command and the size of its output."),
    maxBytes: count(1024, 2 ** 40)
      .default(5_242_880)
      .describe("The daemon's log is rotated when it is larger than this."),
    keep: count(0, 1_000).default(3).describe("How many rotated logs are kept."),
  }),
  delivery: section({
    timeoutMs: milliseconds(1, hourMs)
      .default(5000)
      .describe("How long one attempt looks for its text in a pane before it is uncertain."),
    retries: count(0, 1_000)
      .default(2)
      .describe("How often an attempt that wrote nothing is repeated after an error before the delivery fails."),
    pollIntervalMs: milliseconds(10, 60_000)
      .default(200)
      .describe("Polling interval where the system gives no signal."),
    readyTimeoutMs: milliseconds(1, hourMs)
      .default(30_000)
      .describe("How long `--wait` waits for a pane to become ready before it reports the hold reason."),
    quietMs: milliseconds(0, 60_000)
      .default(300)
      .describe("How long a generic program, or Gemini CLI, must be silent to count as idle."),
    policy: z
      .enum(["one", "both"])
      .default("one")
      .describe(
        "`one`: a message uses one endpoint. `both`: a message to a member of a Claude Code team in one " +
          "of your panes goes to its inbox and its pane, with the same tag.",
      ),
    copyMode: z
      .enum(copyModes)
      .default("leave")
      .describe(
        "A pane in copy mode: `leave` waits while a client shows the pane, and otherwise ends copy mode; " +
          "`hold` always waits.",
      ),
  }),
  guards: section({
    maxHops: count(1).default(8).describe("How many messages in a row agents may exchange without one from the user."),
    perPairPerMinute: count(1).default(20).describe("How many messages a minute one agent may send to one other."),
    perSenderPerMinute: count(1).default(120).describe("How many messages a minute one agent may send in total."),
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
        "How large the mailbox may get. Near this limit the oldest finished messages are removed. " +
          "Messages that wait, were delivered within the last hour or are unanswered stay; if they fill " +
          "the mailbox, new messages are refused.",
      ),
    eventsMegabytes: z
      .number()
      .positive()
      .max(1_048_576)
      .default(128)
      .describe("Above this size the oldest events are removed."),
  }),
  backup: section({
    everyHours: z
      .number()
      .min(0)
      .max(8_760)
      .default(24)
      .describe(
        "Interval of backups to `backups` in the home, if the mailbox has changed. `0`: only `tieline " + "backup`.",
      ),
    keep: count(1, 1_000).default(3).describe("How many backups are kept."),
    maxMegabytes: z
      .number()
      .positive()
      .max(1_048_576)
      .default(1_024)
      .describe("Total size of the backups. The oldest are removed first; the newest always stays."),
  }),
  spawn: section({
    readyTimeoutMs: milliseconds(1, hourMs)
      .default(15_000)
      .describe(
        "How long a started agent may take to become ready. After that its mail stays queued with that " + "reason.",
      ),
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
          "`TIELINE_NATS_URL` or `GENIE_NATS_URL` in the daemon's environment take precedence.",
      ),
    prefix: z
      .string()
      .regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, "words of letters, digits, _ and -, with dots between")
      .default("tieline")
      .describe("Prefix of every subject."),
    credentialsFile: z.string().min(1).nullable().default(null).describe("A `.creds` file."),
    nkeyFile: z.string().min(1).nullable().default(null).describe("A file with an NKEY seed."),
    tlsCaFile: z.string().min(1).nullable().default(null).describe("CA bundle; replaces the system trust store."),
    tlsCertFile: z.string().min(1).nullable().default(null).describe("Client certificate."),
    tlsKeyFile: z.string().min(1).nullable().default(null).describe("Client key."),
  }),
  claudeTeams: section({
    register: z
      .boolean()
      .default(true)
      .describe(
        "Register agents as members of the Claude Code team that has their team's name, or that one of " +
          "them leads, so that native members can write to them.",
      ),
    layout: z
      .enum(["inboxes", "drop"])
      .default("inboxes")
      .describe(
        "Where Claude Code teams keep mail. `inboxes`: `inboxes/<member>.json`, as Claude Code reads it. " +
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
        "The loopback port of the dashboard and of the HTTP API. `null`: a random port, stored in the " +
          "file `port` of the home.",
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
