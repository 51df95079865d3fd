import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import swarmMsg from "../../bin/swarm-msg" with { type: "text" };
import { isSingleFile, launcher } from "../os/install.ts";
import { atomicUpdate } from "../os/atomicWrite.ts";
import { shellWord } from "../os/shell.ts";

/**
 * Where `tieline` and `swarm-msg` are, for agents and hooks. The single file has no directory, so it gets one in the
 * home.
 */
export function programsDirectory(home: string): string {
  const directory = join(home, "bin");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Tieline may have been moved since the last start; agents get this path, and it reaches this home from
  // anywhere.
  const program = `#!/bin/sh\nexport TIELINE_HOME=${shellWord(home)}\nexec ${shellWord(launcher)} "$@"\n`;
  atomicUpdate(join(directory, "tieline"), program, 0o755);
  if (!isSingleFile) return dirname(launcher);
  atomicUpdate(join(directory, "swarm-msg"), swarmMsg, 0o755);
  return directory;
}
