import { launcher } from "../os/install.ts";
import { TielineError } from "../model/errors.ts";
import type { Context } from "./command.ts";

interface Setup extends Pick<Context, "env" | "home" | "terminal"> {
  readonly undo: boolean;
  readonly json: boolean;
}

export async function setUpMcp(name: string, { undo, json, env, home, terminal }: Setup): Promise<number> {
  const [{ mcpPrograms }, { register, unregister }] = await Promise.all([
    import("../mcp/programs.ts"),
    import("../mcp/registration.ts"),
  ]);
  const program = Object.hasOwn(mcpPrograms, name) ? mcpPrograms[name]! : undefined;
  if (program === undefined) throw unknownProgram(name, Object.keys(mcpPrograms));
  const memory = `${home.root}/mcp.json`;
  const { file, changed } = undo ? unregister(program, env, memory) : register(program, env, launcher, memory);
  if (json) await terminal.json({ file, changed });
  else await terminal.print(told(program.title, program.note, { file, changed, undo }));
  return 0;
}

function told(
  title: string,
  note: string,
  { file, changed, undo }: { file: string; changed: boolean; undo: boolean },
): string[] {
  if (!changed) return [`${title}: nothing to change in ${file}`];
  return [`${title}: tieline is ${undo ? "no longer" : "now"} an MCP server in ${file}`, `  ${note}`];
}

const unknownProgram = (name: string, known: readonly string[]): TielineError =>
  new TielineError("USAGE", `Tieline can not register itself with ${name}`, {
    remedy: `use one of ${known.join(", ")}`,
    operands: { program: name },
  });
