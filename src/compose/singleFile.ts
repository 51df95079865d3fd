/** The entry of the single file: a command, the daemon that a command starts, or the copyist that the daemon starts. */
import { copyistWord, daemonWord } from "../os/install.ts";

if (process.argv[2] === daemonWord) await import("../daemon/main.ts");
else if (process.argv[2] === copyistWord) await import("./copyist.ts");
else await import("../cli/main.ts");
