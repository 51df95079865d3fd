/** The question whether the files of a project may start what they name. */
import type { TrustView } from "../../api/schemas/trust.ts";
import { asTielineError } from "../../model/errors.ts";
import type { Context } from "../command.ts";
import { canAsk, confirm } from "../input/confirm.ts";
import type { Paint, Terminal } from "../output/terminal.ts";
import { clockTime } from "../input/times.ts";

type Asking = Pick<Context, "daemon" | "terminal">;

/** What the files can start, or what is different from what the user has trusted. */
export function trustLines(view: TrustView, { paint, now }: Pick<Terminal, "paint" | "now">): string[] {
  const shown = view.state === "changed" ? changeLines(view, paint) : startLines(view);
  return [heading(view, now()), "", ...shown.map((line) => `  ${line}`), "", paint("dim", view.notCovered)];
}

function heading({ file, team, state, trustedAt, problem, remedy }: TrustView, now: number): string {
  const what = `${file} (team ${team})`;
  switch (state) {
    case "trusted":
      return `${what} was trusted at ${clockTime(trustedAt!, now)}. It can start:`;
    case "new":
      return `${what} is not trusted yet. It can start:`;
    case "changed":
      return `${what} can start other things than when you trusted it (${clockTime(trustedAt!, now)}):`;
    case "exposed":
      return `${what} cannot be trusted: ${problem}; ${remedy}. It could start:`;
  }
}

function startLines({ starts }: TrustView): readonly string[] {
  return starts.length === 0 ? ["nothing"] : starts;
}

function changeLines({ changes }: TrustView, paint: Paint): string[] {
  return changes.map(({ sign, text }) => paint(sign === "-" ? "red" : "green", `${sign} ${text}`));
}

/** Shows it and asks; true: the user has said yes, and it is trusted now. */
export async function askForTrust(view: TrustView, { daemon, terminal }: Asking): Promise<boolean> {
  await terminal.print(trustLines(view, terminal));
  if (!(await confirm(view.state === "changed" ? "Trust this change?" : "Trust it?", terminal))) return false;
  await daemon.call("trust", { directory: view.root, digest: view.digest });
  return true;
}

/**
 * Runs, and where the project has to be trusted first, asks on a terminal and runs again. Elsewhere the error says
 * what to do.
 */
export async function onceTrusted<Result>(
  run: () => Promise<Result>,
  context: Asking & { readonly flags: { readonly json?: true } },
): Promise<Result> {
  try {
    return await run();
  } catch (thrown) {
    const { code, operands } = asTielineError(thrown);
    if (code !== "UNTRUSTED" || typeof operands["root"] !== "string" || context.flags.json || !canAsk(context.terminal))
      throw thrown;
    const view = await context.daemon.call("trustShow", { directory: operands["root"] });
    if (view.state === "exposed" || !(await askForTrust(view, context))) throw thrown;
    return run();
  }
}
