/** The entry of the single file: a command, or the daemon that a command starts. */
import { daemonWord } from "./install.ts";

if (process.argv[2] === daemonWord) await import("./daemon/main.ts");
else await import("./cli/main.ts");
