import type { Output } from "../../api/schema.ts";
import { TielineError } from "../../model/errors.ts";
import { agentPrograms, command, usage } from "../input/args.ts";
import type { Home } from "../../client/home.ts";
import type { Terminal } from "../output/terminal.ts";
import { present } from "../output/present.ts";

interface Capture {
  readonly provider: string;
  readonly screen: string;
  readonly title?: string;
  readonly cursor?: { x: number; y: number };
  readonly command?: string;
  readonly copyMode?: boolean;
}

const explain = command({
  name: "explain",
  group: "Agents",
  operation: "explain",
  usage: ["explain <agent>", "explain --provider <program> --screen <file>"],
  details: [
    "With --screen the rules are applied to a file made by `tmux capture-pane -p -e` (- is stdin), " +
      "without an agent or the daemon. Facts about the pane that you leave out are unknown.",
    "Your own rules in screens/<provider>.json of the home apply in both cases; docs/screens.md " + "describes them.",
  ],
  args: [{ name: "agent", optional: true, complete: "agent", field: "agent" }],
  flags: {
    provider: {
      value: "PROGRAM",
      suggest: [...agentPrograms, "shell", "repl", "generic"],
      summary: "the provider: claude-code, codex, gemini, opencode, pi, shell, repl, generic",
    },
    screen: { value: "FILE", complete: "file", summary: "a captured screen" },
    title: { value: "TITLE", summary: "the title of its pane" },
    cursor: { value: "X,Y", parse: cursorAt, summary: "column and row of the cursor, from 0" },
    command: { value: "NAME", summary: "the pane's foreground program" },
    "copy-mode": { summary: "the pane is in copy mode" },
  },
  examples: [
    ["tieline explain engineer", "why its mail waits"],
    ["tmux capture-pane -p -e -t %14 | tieline explain --provider codex --screen -", "how a screen is read"],
  ],
  async run({ args, flags, home, daemon, terminal }) {
    const { provider, screen, title, cursor } = flags;
    if (args.agent !== undefined) {
      if (screen !== undefined) throw usage(explain, "an agent and a file cannot both be explained");
      return printExplanation(await daemon.call("explain", { agent: args.agent }), terminal, flags.json ?? false);
    }
    if (provider === undefined || screen === undefined)
      throw usage(explain, "name an agent, or give --provider and --screen");
    const capture: Capture = {
      provider,
      screen,
      ...(title !== undefined && { title }),
      ...(cursor !== undefined && { cursor }),
      ...(flags.command !== undefined && { command: flags.command }),
      ...(flags["copy-mode"] && { copyMode: true }),
    };
    return explainCapture(capture, home, terminal, flags.json ?? false);
  },
});
export default explain;

function cursorAt(text: string): { x: number; y: number } {
  const [, x, y] = /^(\d{1,5}),(\d{1,5})$/.exec(text) ?? [];
  if (x !== undefined) return { x: Number(x), y: Number(y) };
  throw new TielineError("USAGE", `--cursor: ${JSON.stringify(text)} is not a position on a screen`, {
    remedy: "write column and row, from 0: --cursor 2,31",
  });
}

async function explainCapture(
  { provider, screen, ...known }: Capture,
  home: Home,
  terminal: Terminal,
  json: boolean,
): Promise<number> {
  const [{ explainScreen }, { UserScreens }, { providers }] = await Promise.all([
    import("../../providers/screen.ts"),
    import("../../providers/userScreens.ts"),
    import("../../compose/providers.ts"),
  ]);
  const { state, draft, rule, why } = explainScreen(
    new UserScreens(home.screens, providers).manifest(provider),
    await readCapture(screen),
    known,
  );
  return present({ state, draft, rule, why }, verdict(state, draft, rule, why, terminal), {
    flags: { json },
    terminal,
  });
}

async function readCapture(file: string): Promise<string> {
  try {
    return await (file === "-" ? Bun.stdin : Bun.file(file)).text();
  } catch (cause) {
    throw new TielineError("USAGE", `cannot read ${file}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      remedy: "give a file made by `tmux capture-pane -p -e`",
      operands: { file },
      cause,
    });
  }
}

async function printExplanation(told: Output<"explain">, terminal: Terminal, json: boolean): Promise<number> {
  if (json) {
    await terminal.json(told);
    return 0;
  }
  const { paint } = terminal;
  const { known } = told;
  const facts = known && [
    ["title", JSON.stringify(known.title)],
    ["cursor", known.cursor.join(",")],
    ["command", known.command],
    ["directory", known.directory],
    ["size", known.size.join(" × ")],
    ["composer", known.composer === null ? "not found" : JSON.stringify(known.composer)],
    ...(known.copyMode ? [["copy mode", "yes"]] : []),
  ];
  await terminal.print([
    `${paint("bold", told.agent)} (${told.provider}, ${told.pane})`,
    ...verdict(told.state, told.draft, told.rule, told.why, terminal),
    `mail: ${mailWords(told)}`,
    ...(facts ?? []).map(([name = "", value = ""]) => paint("dim", `  ${name.padEnd(10)} ${value}`)),
  ]);
  return 0;
}

/** Transports that do not depend on what the pane shows. */
const pastThePane: Readonly<Record<string, string>> = {
  stdin: "is written to its standard input",
  "stream-json": "is written to its standard input",
  "workspace-inbox": "is written to the .inbox of its workspace",
};

function mailWords({ way, hold }: Pick<Output<"explain">, "way" | "hold">): string {
  const past = way === null ? undefined : pastThePane[way];
  if (past !== undefined) return `${past}; nothing is typed`;
  const typed = hold ?? "would be typed now";
  return way === "tmux" || way === null ? typed : `goes by ${way}; at its prompt: ${typed}`;
}

function verdict(state: string, draft: boolean, rule: string | null, why: string, { paint }: Terminal): string[] {
  const by = rule === null ? why : `rule ${rule}: ${why}`;
  return [`${paint("bold", state)}${draft ? ", with a draft in the composer" : ""}`, by];
}
