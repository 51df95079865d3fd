import { existsSync, readFileSync } from "node:fs";

export interface Listener {
  readonly uid: number;
}

/** State 0A is LISTEN; addresses are hexadecimal, and so are ports. */
const listening = "0A";
const files = ["/proc/net/tcp", "/proc/net/tcp6"];

/**
 * Who listens at a TCP port of this machine, as the system tells without a connection. Linux only: empty elsewhere.
 * `read` gives the system's table.
 */
export function listenersAt(port: number, read?: (file: string) => string): Listener[] {
  return [...new Set(rowsAt(port, read).map(({ uid }) => uid))].map((uid) => ({ uid }));
}

/** 127.0.0.1, 0.0.0.0, ::ffff:127.0.0.1 and ::, as the table writes them on machines of either byte order. */
const reachedAtLoopback = /^(0100007F|7F000001|0{8}|0{16}(FFFF0000|0000FFFF)(0100007F|7F000001)|0{32})$/;

/**
 * Whose programs a connection to 127.0.0.1 at this port can reach: only those of `uid` (`own`), also or only those of
 * other users (`foreign`), or none (`none`). `unknown`: the system has no such table, as outside of Linux.
 */
export function ownerAtLoopback(
  port: number,
  uid: number,
  read?: (file: string) => string,
): "own" | "foreign" | "none" | "unknown" {
  if (read === undefined && !existsSync(files[0]!)) return "unknown";
  const found = rowsAt(port, read).filter(({ address }) => reachedAtLoopback.test(address));
  if (found.length === 0) return "none";
  return found.every((row) => row.uid === uid) ? "own" : "foreign";
}

function rowsAt(
  port: number,
  read: (file: string) => string = textOrNothing,
): { readonly address: string; readonly uid: number }[] {
  const rows = files.flatMap((file) => read(file).split("\n").slice(1)).map((line) => line.trim().split(/\s+/));
  return rows.flatMap(([, local = "", , state, , , , uid]) => {
    const [address = "", digits = ""] = local.split(":");
    return state === listening && Number.parseInt(digits, 16) === port ? [{ address, uid: Number(uid) }] : [];
  });
}

function textOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if (["ENOENT", "EACCES"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return "";
    throw thrown;
  }
}
