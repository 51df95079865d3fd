import { asTielineError } from "../model/errors.ts";
import type { Exec } from "../os/exec.ts";

/** What a command line begins with, so that its process ends with ours; nothing where the system has no such thing. */
export type Leash = readonly string[];

const setpriv = ["setpriv", "--pdeathsig", "KILL", "--"];

/**
 * tmux keeps a control client for which it has unread output, and does not end while it has one.
 * That is what a killed daemon leaves behind, so the client must not outlive it.
 */
export async function findLeash(
  exec: Exec,
  env?: Record<string, string>,
  platform: NodeJS.Platform = process.platform,
): Promise<Leash> {
  if (platform !== "linux") return [];
  const { code } = await exec([...setpriv, "true"], { ...(env && { env }) }).catch((fault: unknown) => {
    if (asTielineError(fault).code !== "NOT_INSTALLED") throw fault;
    return { code: 1 };
  });
  // Who was orphaned before the leash was on is not pulled by it.
  return code === 0 ? [...setpriv, "sh", "-c", '[ "$PPID" = "$0" ] && exec "$@"', String(process.pid)] : [];
}
