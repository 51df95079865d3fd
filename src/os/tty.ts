import { dlopen, ptr } from "bun:ffi";
import { closeSync, constants, openSync } from "node:fs";
import { bunExec, type Exec } from "./exec.ts";

/** Canonical: the terminal itself edits lines, so no program has asked for keys or bracketed paste. */
export type TtyMode = "canonical" | "raw" | "unknown";

/** The offset of `c_lflag` in a termios, and its bit for line editing. */
interface Layout {
  readonly libraries: readonly string[];
  readonly offset: number;
  readonly icanon: number;
}

const layouts: Partial<Record<NodeJS.Platform, Layout>> = {
  linux: { libraries: ["libc.so.6", "libc.so"], offset: 12, icanon: 0x2 },
  darwin: { libraries: ["libSystem.B.dylib"], offset: 24, icanon: 0x100 },
};

export type ReadTtyMode = (tty: string) => Promise<TtyMode>;

/** Asks the C library, which takes microseconds, else a `stty` process, which takes milliseconds. */
export function ttyModes(platform: NodeJS.Platform = process.platform, exec: Exec = bunExec): ReadTtyMode {
  const direct = libraryMode(layouts[platform]);
  return async (tty) => direct?.(tty) ?? sttyMode(tty, platform, exec);
}

function libraryMode(layout: Layout | undefined): ((tty: string) => TtyMode | null) | null {
  const tcgetattr = layout && firstThatLoads(layout.libraries);
  if (!tcgetattr) return null;
  const termios = new Uint8Array(256);
  return (tty) => {
    const fd = openTerminal(tty);
    if (fd === null) return null;
    try {
      if (tcgetattr(fd, ptr(termios)) !== 0) return null;
      const flags = new DataView(termios.buffer).getUint32(layout.offset, true);
      return (flags & layout.icanon) === 0 ? "raw" : "canonical";
    } finally {
      closeSync(fd);
    }
  };
}

function firstThatLoads(libraries: readonly string[]): ((fd: number, termios: number) => number) | null {
  for (const library of libraries) {
    try {
      const { symbols } = dlopen(library, { tcgetattr: { args: ["i32", "ptr"], returns: "i32" } });
      return symbols.tcgetattr as unknown as (fd: number, termios: number) => number;
    } catch {
      // The next name may be the one of this system; without any, stty answers.
    }
  }
  return null;
}

/** Must neither become our controlling terminal nor wait for a carrier. */
function openTerminal(tty: string): number | null {
  try {
    return openSync(tty, constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK);
  } catch {
    return null;
  }
}

async function sttyMode(tty: string, platform: NodeJS.Platform, exec: Exec): Promise<TtyMode> {
  const { code, stdout } = await exec(["stty", platform === "linux" ? "-F" : "-f", tty, "-a"]);
  const mode = /(?:^|\s)(-?)icanon\b/.exec(stdout);
  if (code !== 0 || !mode) return "unknown";
  return mode[1] ? "raw" : "canonical";
}
