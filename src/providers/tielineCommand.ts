/** The command with which an agent runs `tieline` in its own shell. */
import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Agent } from "../model/agent.ts";
import { environOf } from "./processFiles.ts";
import type { Providers } from "./providers.ts";
import { shellWord } from "../os/shell.ts";
import { tmuxEndpoint } from "../delivery/transports/paneEndpoint.ts";

export interface TielineCommandParts {
  readonly home: string;
  /** The same program under a path that stays: `bin/tieline` in the home. */
  readonly program: string;
  readonly providers: Pick<Providers, "of">;
  readonly environ?: (pid: number) => Readonly<Record<string, string>>;
}

/** Just `tieline` where the agent's shell finds it and it reaches this home; else the path that works everywhere. */
export function tielineCommand({
  home,
  program,
  providers,
  environ = environOf,
}: TielineCommandParts): (agent: Agent) => string {
  const whole = shellWord(program);
  return (agent) => {
    if (providers.of(agent.provider).usesLoginShells) return whole;
    if (agent.launch !== null) return "tieline";
    const env = environ(pidOf(agent));
    const reaches = realPath(env["TIELINE_HOME"] ?? join(env["HOME"] ?? "/", ".tieline")) === realPath(home);
    return reaches && Bun.which("tieline", { PATH: env["PATH"] ?? "" }) !== null ? "tieline" : whole;
  };
}

const pidOf = (agent: Agent): number => tmuxEndpoint.of(agent)?.locator.agentPid ?? 0;

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === "ENOENT") return path;
    throw thrown;
  }
}
