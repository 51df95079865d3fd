import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import swarmMsg from "../../bin/swarm-msg" with { type: "text" };
import { isSingleFile, launcher } from "../install.ts";
import { shellWord } from "../providers/provider.ts";

/** Where `tieline` and `swarm-msg` are, for agents and hooks. The single file has no directory, so it gets one in the home. */
export function programsDirectory(home: string): string {
  const directory = join(home, "bin");
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  // Tieline may have been moved since the last start; agents are told this path, and it reaches this home from anywhere.
  put(join(directory, "tieline"), (draft) => writeFileSync(draft, `#!/bin/sh\nexport TIELINE_HOME=${shellWord(home)}\nexec ${shellWord(launcher)} "$@"\n`, { mode: 0o755 }));
  if (!isSingleFile) return dirname(launcher);
  put(join(directory, "swarm-msg"), (draft) => writeFileSync(draft, swarmMsg, { mode: 0o755 }));
  return directory;
}

/** Whole or not at all, because an agent may call it at this moment. */
function put(path: string, make: (draft: string) => void): void {
  const draft = `${path}.${process.pid}.new`;
  make(draft);
  renameSync(draft, path);
}
