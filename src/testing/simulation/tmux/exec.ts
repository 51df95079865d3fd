/** Runs `tmux` command lines against a simulated server, as processes of the real one would. */
import type { Exec, ExecResult } from "../../../os/exec.ts";
import type { SimulatedTmux } from "./server.ts";
import { CommandFailure } from "./state.ts";

/** What a tmux process answers. `server`: the one that listens on a socket now; null: none. */
export function runProcess(
  argv: readonly string[],
  stdin: string | Uint8Array | undefined,
  server: (socketPath: string) => SimulatedTmux | null,
): ExecResult {
  const [, , , socketPath = "", ...words] = argv;
  if (words[0] === "-V") return { code: 0, stdout: "tmux 3.3a\n", stderr: "" };
  const tmux = server(socketPath);
  if (tmux === null || !tmux.alive) return { code: 1, stdout: "", stderr: `no server running on ${socketPath}\n` };
  const line = words[0] === "source-file" ? String(stdin) : words.map(quoted).join(" ");
  try {
    const lines = tmux.run(line.trimEnd());
    return { code: 0, stdout: lines.map((one) => `${one}\n`).join(""), stderr: "" };
  } catch (thrown) {
    if (!(thrown instanceof CommandFailure)) throw thrown;
    return { code: 1, stdout: "", stderr: `${thrown.message}\n` };
  }
}

export function simulatedExec(server: (socketPath: string) => SimulatedTmux | null): Exec {
  return async (argv, { stdin } = {}) => runProcess(argv, stdin, server);
}

const quoted = (word: string): string => (word === ";" ? ";" : `"${word.replaceAll(/[\\"]/g, "\\$&")}"`);
