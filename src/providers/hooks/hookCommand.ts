/** The command lines with which programs run Tieline's hook, and by which the hook is recognised. */
import { shellWord } from "../../os/shell.ts";
import type { HookSetup } from "../port.ts";

/** `all` behind the event says that the program was asked to cut nothing that the hook answers. */
export const hookCommand = (
  { hook }: Pick<HookSetup, "hook">,
  provider: string,
  event: string,
  takesAll = false,
): string => `${shellWord(hook)} ${provider} ${event}${takesAll ? " all" : ""}`;

/** By the folder's name, because a home may be anywhere. */
export function runsHookOf(provider: string): (hook: Readonly<Record<string, unknown>>) => boolean {
  const line = new RegExp(`/hooks/hook'? ${provider}\\b`);
  return ({ command }) => typeof command === "string" && line.test(command);
}
