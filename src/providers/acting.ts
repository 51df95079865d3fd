/** What would act on text that is typed into a pane: the program in front, or what it has put there. */
import { descendants, type ProcessFacts, type Processes } from "../os/processes.ts";
import { kindOf, type ProgramKind } from "./programKinds.ts";
import type { Providers } from "./providers.ts";

export interface Acting {
  readonly kind: Exclude<ProgramKind["kind"], "wrapper">;
  /** The program that acts. */
  readonly name: string;
  /** The program that owns the pane's terminal; null: this one does. */
  readonly behind: string | null;
  /** It is on a terminal that the program in front made for it, and that is not known to pass text on. */
  readonly apart: boolean;
  /** What begins a line that an interpreter leaves alone. */
  readonly comment: string | null;
}

/** Null: nothing that is known to act on text. */
export async function actingIn(
  front: ProcessFacts,
  processes: Processes,
  providers: Pick<Providers, "ofProgram">,
): Promise<Acting | null> {
  const kind = kindOf(await argvOf(front, processes));
  if (kind && kind.kind !== "wrapper") return actingAs(kind, null, false);
  for (const one of await descendants(processes, front.pid)) {
    if (one.processGroup !== one.foregroundGroup) continue;
    const argv = await argvOf(one, processes);
    if (providers.ofProgram(one.command, argv) !== null) return null;
    const below = kindOf(argv);
    if (below === null || below.kind === "wrapper") continue;
    // Viewers read keys from the terminal whatever their input is; the others read their input.
    if (below.kind !== "keys" && !(await processes.readsTerminal(one.pid))) continue;
    return actingAs(below, front.command, kind === null && one.foregroundGroup !== front.foregroundGroup);
  }
  return null;
}

/** The agent program that a wrapper has put into its terminal; null: none that is known. */
export async function agentProgramBehind(
  front: ProcessFacts,
  processes: Processes,
  providers: Pick<Providers, "ofProgram">,
): Promise<string | null> {
  if (kindOf(await argvOf(front, processes))?.kind !== "wrapper") return null;
  for (const one of await descendants(processes, front.pid)) {
    if (one.processGroup === one.foregroundGroup) {
      const provider = providers.ofProgram(one.command, await argvOf(one, processes));
      if (provider !== null) return provider;
    }
  }
  return null;
}

/** What the program would do with the text, as a sentence. */
export function actingWords({ kind, name, behind }: Acting): string {
  const where = behind === null ? name : `${name} (behind ${behind})`;
  switch (kind) {
    case "shell":
      return `${where} is a shell and would run what is typed`;
    case "interpreter":
      return `${where} is an interpreter and would run what is typed`;
    case "keys":
      return `${where} takes keys, not messages`;
    case "remote":
      return `what reads behind ${name} cannot be seen from here, and may run what is typed`;
  }
}

/** Just after its start a program has no arguments yet. */
async function argvOf({ pid, command }: ProcessFacts, processes: Processes): Promise<readonly string[]> {
  const argv = await processes.argv(pid);
  return argv.length > 0 ? argv : [command];
}

const actingAs = (kind: Exclude<ProgramKind, { kind: "wrapper" }>, behind: string | null, apart: boolean): Acting => ({
  kind: kind.kind,
  name: kind.name,
  behind,
  apart,
  comment: kind.kind === "interpreter" ? kind.comment : null,
});
