import { z } from "zod";
import { resolve } from "node:path";
import { namePattern, permissions } from "../model/agent.ts";
import {
  copyModes,
  inputs,
  networks,
  permissionModes,
  type Profile,
  type ProfileOrigin,
  sandboxes,
} from "../model/profile.ts";

const text = z.string().min(1);
export const name = z.string().regex(namePattern, "a name: a letter or _ first, then letters, digits, _ or -");
/** A list is an argv; text is for the shell. */
export const command = z.union([text.transform((line) => ["sh", "-c", line]), z.array(z.string()).min(1)]);
const texts = z.union([text.transform((one) => [one]), z.array(text)]);
const environment = z.record(
  z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, "the name of an environment variable"),
  z.union([z.string(), z.number(), z.boolean()]).transform(String),
);
const pattern = text.refine(isPattern, "a regular expression");

/** What `agents:` in tieline.yaml and the front matter of a profile file may say. */
export const ProfileFields = z
  .strictObject({
    description: text.describe("One line about it, shown by `tieline profiles ls`."),
    profile: name.describe("Another profile to inherit settings from."),
    provider: text.describe(
      "The program: `claude-code`, `codex`, `generic`, … Without it: `generic` if there is a command, else " +
        "`claude-code`.",
    ),
    command: command.describe(
      "What to run: text for the shell, or a list of arguments. Without it the provider's own program.",
    ),
    args: z.array(z.string()).describe("Further arguments for the program."),
    headless: z
      .boolean()
      .describe(
        "Run it without a terminal: mail goes to its standard input, and its standard output is read for " +
          "text markers. For a `command:` and for Claude Code. Default `false`.",
      ),
    role: name.describe("A label that several agents may share, and an address for mail."),
    cwd: text.describe("The working directory, relative to the file's project."),
    prompt: text.describe(
      "Added to the program's own system prompt. In a profile file it is the text below the front matter.",
    ),
    model: text
      .regex(/^[^-]/, "the name of a model, which does not begin with -")
      .describe("The model, as the program names it."),
    skill: text.describe("A skill that the agent starts with."),
    env: environment.describe("Environment variables."),
    workspace: text.describe("Its own directory with `.inbox` and `.outbox`; two agents cannot share one."),
    sandbox: z.enum(sandboxes).describe("`none`, `bwrap`, or `command` with `sandboxCommand`."),
    sandboxCommand: z
      .array(z.string())
      .min(1)
      .describe("The wrapper in front of the agent's command, with `sandbox: command`."),
    network: z
      .enum(networks)
      .describe(
        "What an agent under `sandbox: bwrap` reaches: `internet` (default), everything except this " +
          "machine's loopback; `none`; or `host`, like programs outside.",
      ),
    hostPorts: z
      .array(z.int().min(1).max(65_535))
      .describe(
        "TCP ports of this machine's loopback that an agent with `network: internet` may reach, such as " +
          "11434 for a local model.",
      ),
    readable: texts.describe("Further paths that an agent under `sandbox: bwrap` may read."),
    input: z
      .enum(inputs)
      .describe(
        "How mail reaches it: `terminal` (default) types it at its prompt, or writes it to its standard " +
          "input if it is `headless`; `files` only writes it to the `.inbox` of its workspace.",
      ),
    permissions: z
      .enum(permissionModes)
      .describe("How the program asks before it acts: `ask` (default), `auto` or `skip`."),
    may: z
      .array(z.enum(permissions))
      .describe("What it may do in addition to writing along its edges. Default: nothing."),
    logs: texts.describe("Files with the agent's output, read for text markers."),
    markers: z
      .boolean()
      .describe(
        "Programs with hooks: send text in the last message of a turn that is addressed to an agent " +
          "(`@name: …`). Default `false`.",
      ),
    promptPattern: pattern.describe(
      "Generic programs: a regular expression for the last line when the program is idle.",
    ),
    bracketedPaste: z
      .boolean()
      .describe("Whether the program supports bracketed paste. Default: what the terminal reports."),
    pasteLimit: z
      .int()
      .min(1)
      .max(16_777_216)
      .describe(
        "The longest text that is pasted whole, in bytes; a longer message arrives as a summary. Default " +
          "1000000 for Claude Code and Codex, else 65536.",
      ),
    echo: z.boolean().describe("Whether the program shows what is typed. Without an echo the screen proves nothing."),
    copyMode: z.enum(copyModes).describe("Overrides `delivery.copyMode` for this agent."),
    autostart: z.boolean().describe("Whether mail may start it. Default `true`."),
  })
  .partial()
  .refine(({ sandbox, sandboxCommand }) => sandbox !== "command" || sandboxCommand !== undefined, {
    path: ["sandboxCommand"],
    message: "a list when `sandbox: command` is set",
  })
  .refine(({ input, workspace }) => input !== "files" || workspace !== undefined, {
    path: ["workspace"],
    message: "a directory when `input: files` is set",
  })
  .refine(({ network = "internet", hostPorts = [] }) => hostPorts.length === 0 || network === "internet", {
    path: ["hostPorts"],
    message: "left out unless `network: internet` is set",
  });
export type ProfileFields = z.output<typeof ProfileFields>;

export interface ProfilePlace {
  readonly name: string;
  readonly origin: ProfileOrigin;
  readonly source: string;
  /** What relative paths start from. */
  readonly root: string;
}

/** What the fields say, then what the base says, then the defaults. */
export function toProfile(fields: ProfileFields, place: ProfilePlace, base: Profile | null): Profile {
  const path = (given: string | undefined): string | null => (given === undefined ? null : resolve(place.root, given));
  return {
    name: place.name,
    origin: place.origin,
    source: place.source,
    project: place.origin === "project" ? place.root : (base?.project ?? null),
    description: fields.description ?? base?.description ?? null,
    provider: fields.provider ?? (fields.command ? "generic" : (base?.provider ?? "claude-code")),
    command: fields.command ?? base?.command ?? null,
    args: fields.args ?? base?.args ?? [],
    headless: fields.headless ?? base?.headless ?? false,
    role: fields.role ?? base?.role ?? null,
    cwd: path(fields.cwd) ?? base?.cwd ?? null,
    prompt: fields.prompt ?? base?.prompt ?? null,
    promptOrigin: fields.prompt === undefined ? (base?.promptOrigin ?? null) : place.origin,
    model: fields.model ?? base?.model ?? null,
    skill: fields.skill ?? base?.skill ?? null,
    env: { ...base?.env, ...fields.env },
    workspace: path(fields.workspace) ?? base?.workspace ?? null,
    sandbox: fields.sandbox ?? base?.sandbox ?? "none",
    sandboxCommand: fields.sandboxCommand ?? base?.sandboxCommand ?? null,
    network: fields.network ?? base?.network ?? "internet",
    hostPorts:
      fields.hostPorts ??
      (fields.network === undefined || fields.network === "internet" ? base?.hostPorts : undefined) ??
      [],
    readable: fields.readable?.map((one) => resolve(place.root, one)) ?? base?.readable ?? [],
    input: fields.input ?? base?.input ?? "terminal",
    permissions: fields.permissions ?? base?.permissions ?? "ask",
    may: fields.may ?? base?.may ?? [],
    logs: fields.logs?.map((log) => resolve(place.root, log)) ?? base?.logs ?? [],
    markers: fields.markers ?? base?.markers ?? false,
    promptPattern: fields.promptPattern ?? base?.promptPattern ?? null,
    bracketedPaste: fields.bracketedPaste ?? base?.bracketedPaste ?? null,
    pasteLimit: fields.pasteLimit ?? base?.pasteLimit ?? null,
    echo: fields.echo ?? base?.echo ?? null,
    copyMode: fields.copyMode ?? base?.copyMode ?? null,
    autostart: fields.autostart ?? base?.autostart ?? true,
  };
}

function isPattern(source: string): boolean {
  try {
    RegExp(source, "u");
    return true;
  } catch (error) {
    if (error instanceof SyntaxError) return false;
    throw error;
  }
}
