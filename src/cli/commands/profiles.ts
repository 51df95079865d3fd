import type { ProfileView } from "../../api/schemas/profiles.ts";
import { TielineError } from "../../model/errors.ts";
import { linesOf } from "../../model/visible.ts";
import { agentPrograms, command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { table, type Cell } from "../output/table.ts";
import { present } from "../output/present.ts";

const choices = ["ls", "add", "show", "rm", "edit"] as const;
const args = [
  { name: "action", optional: true, choices, summary: "what to do; default ls" },
  { name: "name", optional: true, complete: "profile", field: "name" },
] as const;
const flags = {
  names: { summary: "ls: only the names, one per line" },
  user: { summary: "add: for all your projects, not only this one" },
  provider: { value: "PROVIDER", suggest: [...agentPrograms, "generic"], field: { add: "provider" } },
  profile: { value: "NAME", complete: "profile", field: { add: "profile" } },
  command: { value: "LINE", field: { add: "command" } },
  model: { value: "MODEL", field: { add: "model" } },
  role: { value: "ROLE", field: { add: "role" } },
  cwd: { value: "DIR", complete: "directory", field: { add: "cwd" } },
  description: { value: "TEXT", field: { add: "description" } },
  prompt: { value: "TEXT", field: { add: "prompt" }, note: "- is stdin" },
} as const;
type Running = Context<typeof args, typeof flags>;

const agents = command({
  name: "profiles",
  group: "Agents",
  summary: "List, add, show, remove or edit profiles.",
  actions: {
    ls: "profiles",
    add: "profileAdd",
    show: "profile",
    rm: "profileRemove",
    edit: { summary: "Open the file of a profile in $VISUAL or $EDITOR; without a terminal, print its path." },
  },
  usage: ["profiles [ls]", "profiles add <name>", "profiles show|edit|rm <name>"],
  details: [
    "Agents are started from profiles. A profile is looked up in the project (tieline.yaml, then " +
      ".tieline/agents), then in agents/ of the home, then among the built-in ones. `add` writes a " +
      "Markdown file with front matter, and `rm` removes such a file. tieline.yaml is never changed.",
  ],
  args,
  flags,
  examples: [
    ["tieline profiles ls", "the profiles available here"],
    [
      'tieline profiles add ana --profile engineer --model opus --prompt "You look after the API."',
      "a new profile for this project",
    ],
    ["tieline profiles edit ana", "open it in your editor"],
  ],
  run: (context) => run[(context.args.action ?? "ls") as keyof typeof run](context),
});
export default agents;

const run = { ls, add, show, rm, edit } satisfies Record<
  (typeof choices)[number],
  (context: Running) => Promise<number>
>;

async function ls({ daemon, flags, terminal }: Running): Promise<number> {
  const profiles = await daemon.call("profiles", {});
  if (flags.names && !flags.json)
    return present(
      profiles,
      profiles.map(({ name }) => name),
      { flags, terminal },
    );
  const rows = profiles.map((profile): Cell[] => [
    { text: profile.name, style: "bold" },
    { text: profile.provider },
    { text: profile.origin },
    {
      text:
        profile.agents.map(({ name, state }) => (name === profile.name ? state : `${name} ${state}`)).join(", ") || "–",
    },
    { text: profile.description ?? profile.source, style: "dim" },
  ]);
  return present(
    profiles,
    table(["PROFILE", "PROVIDER", "FROM", "AGENTS", "ABOUT"], rows, terminal.paint, terminal.width()),
    { flags, terminal },
  );
}

async function add(context: Running): Promise<number> {
  const { flags, daemon, terminal } = context;
  const { provider, profile, command: line, model, role, cwd, description } = flags;
  const prompt = flags.prompt === "-" ? await Bun.stdin.text() : flags.prompt;
  const given = { provider, profile, command: line, model, role, cwd, description, prompt };
  const settings = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const added = await daemon.call("profileAdd", {
    name: nameOf(context),
    scope: flags.user ? "user" : "project",
    ...settings,
  });
  return present(added, `${terminal.paint("green", "✓")} ${added.source}`, { flags, terminal });
}

async function show(context: Running): Promise<number> {
  const { flags, daemon, terminal } = context;
  const profile = await daemon.call("profile", { name: nameOf(context) });
  return present(profile, portrait(profile, terminal), { flags, terminal });
}

async function rm(context: Running): Promise<number> {
  const { flags, daemon, terminal } = context;
  const removed = await daemon.call("profileRemove", { name: nameOf(context) });
  return present(removed, `removed ${removed.file}`, { flags, terminal });
}

async function edit(context: Running): Promise<number> {
  const { env, flags, daemon, terminal } = context;
  const profile = await daemon.call("profile", { name: nameOf(context) });
  if (profile.origin === "built in") throw builtIn(profile.name);
  const editor = env["VISUAL"] || env["EDITOR"];
  if (flags.json) await terminal.json({ name: profile.name, file: profile.source });
  else if (editor && terminal.interactive) return openEditor(editor, profile.source);
  else await terminal.print(profile.source);
  return 0;
}

/** An editor's setting may hold flags, so it goes through the shell; the file's name does not. */
async function openEditor(editor: string, file: string): Promise<number> {
  const child = Bun.spawn(["sh", "-c", `${editor} "$1"`, "sh", file], {
    stdin: "inherit",
    stdout: "inherit",
    stderr: "inherit",
  });
  return child.exited;
}

function nameOf({ args }: Running): string {
  if (args.name !== undefined) return args.name;
  throw usage(agents, "<name> is missing");
}

function portrait(profile: ProfileView, { paint }: Running["terminal"]): string[] {
  const facts: [string, string | null][] = [
    ["from", profile.source.startsWith(profile.origin) ? profile.source : `${profile.origin}: ${profile.source}`],
    ["provider", profile.provider],
    ["command", profile.command?.join(" ") ?? null],
    ["model", profile.model],
    ["role", profile.role],
    ["directory", profile.cwd],
    ["permissions", profile.permissions],
    ["may", profile.may.join(", ") || null],
    ["started by mail", profile.autostart ? "yes" : "no"],
    ["agents", profile.agents.map(({ name, state }) => `${name} (${state})`).join(", ") || null],
  ];
  const known = facts.filter((fact): fact is [string, string] => fact[1] !== null);
  return [
    `${paint("bold", profile.name)}   ${profile.description ?? ""}`.trimEnd(),
    ...known.map(([name, value]) => `  ${paint("dim", name.padEnd(16))}${value}`),
    ...(profile.prompt === null ? [] : ["", ...linesOf(profile.prompt)]),
  ];
}

const builtIn = (name: string): TielineError =>
  new TielineError("CONFLICT", `${name} is built in and has no file to edit`, {
    remedy: `\`tieline profiles add ${name}\` writes one that inherits its settings and takes precedence`,
    operands: { name },
  });
