import { readFileSync } from "node:fs";

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
export function listenersAt(port: number, read: (file: string) => string = textOrNothing): Listener[] {
  const rows = files.flatMap((file) => read(file).split("\n").slice(1)).map((line) => line.trim().split(/\s+/));
  const found = rows.filter(([, local = "", , state]) => state === listening && Number.parseInt(local.split(":")[1] ?? "", 16) === port);
  return [...new Set(found.map((row) => Number(row[7])))].map((uid) => ({ uid }));
}

function textOrNothing(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (thrown) {
    if (["ENOENT", "EACCES"].includes((thrown as NodeJS.ErrnoException).code ?? "")) return "";
    throw thrown;
  }
}
