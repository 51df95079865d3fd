import { existsSync } from "node:fs";
import { TielineError } from "../../model/errors.ts";
import { command } from "../input/args.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export default command({
  name: "dash",
  group: "Project",
  uses: ["dash"],
  summary: "Open the dashboard: the whole team on one page.",
  usage: ["dash [--port N] [--ip] [--no-open]"],
  details: [
    "The daemon serves the page on this machine only. The link works once, within a minute, and signs the " +
      "browser in until the daemon is restarted; tabs that are open then stay signed in. `tieline devices` " +
      "lists the browsers and signs them out.",
    "Agents cannot open it: what is done on the page is done as the user.",
  ],
  args: [],
  flags: {
    port: { value: "N", parse: portNumber, field: "port" },
    ip: { field: "byAddress" },
    "no-open": { summary: "print the link and open no browser" },
  },
  examples: [
    ["tieline dash", "open it in the browser"],
    ["tieline dash --no-open", "only print the link, for a browser elsewhere behind `ssh -L PORT:127.0.0.1:PORT`"],
  ],
  async run({ flags, daemon, env, home, terminal }) {
    const opener = flags["no-open"] || flags.json ? null : openerIn(env);
    const byAddress = flags.ip ?? !(await findsNames());
    const { url, port, file } = await daemon.call("dash", {
      ...(flags.port !== undefined && { port: flags.port }),
      ...(byAddress && { byAddress }),
      ...(opener !== null && { fileIn: snapDirectory(env) ?? home.page }),
    });
    if (flags.json) await terminal.json({ url, port });
    else await terminal.print(url);
    // The link is printed already, so a browser that does not come up is no failure, and nothing waits until it is
    // closed.
    if (opener !== null && file !== null)
      Bun.spawn([opener, file], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).unref();
    return 0;
  },
});

function portNumber(text: string, flag: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new TielineError("USAGE", `${flag} takes a port, not ${text}`, { remedy: "use a number from 1 to 65535" });
}

/**
 * What opens a file in the user's browser; null: there is no desktop here. It gets a file, so that the link is in no
 * process list.
 */
function openerIn(env: Environment): string | null {
  const isDesktop = process.platform === "darwin" || Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
  return isDesktop ? Bun.which(process.platform === "darwin" ? "open" : "xdg-open", { PATH: env["PATH"] ?? "" }) : null;
}

/**
 * Chrome and Firefox find names below localhost by themselves; Safari asks the system, which on older versions of macOS
 * does not.
 */
async function findsNames(): Promise<boolean> {
  if (process.platform !== "darwin") return true;
  const { lookup } = await import("node:dns/promises");
  return lookup("tieline.localhost").then(
    () => true,
    () => false,
  );
}

/** A browser that is a snap, as on Ubuntu, may not read hidden directories; it has one of its own. null: no snap. */
function snapDirectory(env: Environment): string | null {
  const settings = process.platform === "linux" ? Bun.which("xdg-settings", { PATH: env["PATH"] ?? "" }) : null;
  if (settings === null) return null;
  const { stdout } = Bun.spawnSync([settings, "get", "default-web-browser"], {
    env: { ...env },
    stderr: "ignore",
    timeout: 2_000,
  });
  const name = /^([a-z0-9-]+)_\1\.desktop$/.exec(stdout.toString().trim())?.[1];
  const directory = `${env["HOME"] ?? ""}/snap/${name}/common`;
  return name !== undefined && existsSync(directory) ? directory : null;
}
