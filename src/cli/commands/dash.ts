import { TielineError } from "../../model/errors.ts";
import { command } from "../args.ts";

export default command({
  name: "dash",
  group: "Project",
  summary: "open the dashboard: the whole team on one page",
  usage: ["dash [--port N] [--no-open]"],
  details: [
    "The daemon serves the page on this machine only. The link works once, within a minute; the browser that used it stays let in for a week.",
    "Agents can not open it: what is done on the page is done by the person.",
  ],
  args: [],
  flags: {
    port: { value: "N", parse: portNumber, summary: "serve it at this port as well, until the daemon stops" },
    "no-open": { summary: "print the link and open no browser" },
  },
  examples: [
    ["tieline dash", "open it in the browser"],
    ["tieline dash --no-open", "only print the link, for a browser elsewhere behind `ssh -L`"],
  ],
  async run({ flags, daemon, env, terminal }) {
    const { url, port } = await daemon.call("dash", flags.port === undefined ? {} : { port: flags.port });
    if (flags.json) await terminal.json({ url, port });
    else await terminal.print(url);
    if (!flags["no-open"] && !flags.json) open(url, env);
    return 0;
  },
});

function portNumber(text: string, flag: string): number {
  const port = Number(text);
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port;
  throw new TielineError("USAGE", `${flag} takes a port, not ${text}`, { remedy: "use a number from 1 to 65535" });
}

/** The link is printed already, so a machine without a browser is no failure; nobody waits until the browser is closed. */
function open(url: string, env: Readonly<Record<string, string | undefined>>): void {
  const isDesktop = process.platform === "darwin" || Boolean(env["DISPLAY"] ?? env["WAYLAND_DISPLAY"]);
  const program = Bun.which(process.platform === "darwin" ? "open" : "xdg-open");
  if (!isDesktop || program === null) return;
  Bun.spawn([program, url], { stdin: "ignore", stdout: "ignore", stderr: "ignore" }).unref();
}
