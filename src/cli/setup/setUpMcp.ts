import { launcher } from "../../os/install.ts";
import { TielineError } from "../../model/errors.ts";
import type { Context } from "../command.ts";

interface Setup extends Pick<Context, "env" | "home" | "terminal"> {
  readonly undo: boolean;
  readonly json: boolean;
}

export async function setUpMcp(name: string, { undo, json, env, home, terminal }: Setup): Promise<number> {
  const [{ providers }, { register, unregister }] = await Promise.all([
    import("../../compose/providers.ts"),
    import("../../mcp/registration.ts"),
  ]);
  const known = providers.all.filter(({ mcp }) => mcp !== undefined);
  const program = known.find((one) => one.program === name);
  if (program === undefined)
    throw unknownProgram(
      name,
      known.map((one) => one.program!),
    );
  const memory = `${home.root}/mcp.json`;
  const { file, changed } = undo ? unregister(program.mcp!, env, memory) : register(program, env, launcher, memory);
  if (json) await terminal.json({ file, changed });
  else await terminal.print(told(program.title, { file, changed, undo }));
  return 0;
}

const restarted = "sessions that run already see it when they are started again";

function told(title: string, { file, changed, undo }: { file: string; changed: boolean; undo: boolean }): string[] {
  if (!changed) return [`${title}: nothing to change in ${file}`];
  return [`${title}: tieline is ${undo ? "no longer" : "now"} an MCP server in ${file}`, `  ${restarted}`];
}

const unknownProgram = (name: string, known: readonly string[]): TielineError =>
  new TielineError("USAGE", `Tieline cannot register itself with ${name}`, {
    remedy: `use one of ${known.join(", ")}`,
    operands: { program: name },
  });
