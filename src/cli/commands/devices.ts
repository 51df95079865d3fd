import type { DeviceView } from "../../api/schemas/page.ts";
import { command, usage } from "../input/args.ts";
import type { Context } from "../command.ts";
import { present } from "../output/present.ts";
import { table, type Cell } from "../output/table.ts";
import { clockTime, span } from "../input/times.ts";

const args = [
  { name: "action", choices: ["ls", "revoke"], summary: "what to do" },
  { name: "device", optional: true, many: true, field: { revoke: "devices" } },
] as const;
const flags = { all: { field: { revoke: "all" } } } as const;
type Running = Context<typeof args, typeof flags>;

const devices = command({
  name: "devices",
  group: "Project",
  summary: "List the browsers that are signed in to the dashboard, or sign them out.",
  actions: { ls: "devices", revoke: "devicesRevoke" },
  usage: ["devices ls", "devices revoke <id>...|--all"],
  details: [
    "A device is a browser that used a link of `tieline dash`. It is `active` until the daemon restarts, " +
      "then `dormant`: only open tabs keep working. A device that is not used for a week is removed.",
    "A revoked device is signed out at once, with all its tabs.",
  ],
  args,
  flags,
  examples: [
    ["tieline devices ls", "which browsers are signed in, since when, and when each was last used"],
    ["tieline devices revoke 3f9a01c7", "sign one of them out"],
    ["tieline devices revoke --all", "sign all of them out"],
  ],
  run: (context) => (context.args.action === "ls" ? ls(context) : revoke(context)),
});
export default devices;

async function ls(context: Running): Promise<number> {
  const found = await context.daemon.call("devices", {});
  return present(
    found,
    found.length === 0
      ? context.terminal.paint("dim", "no browser is signed in; `tieline dash` signs one in")
      : rows(found, context),
    context,
  );
}

async function revoke(context: Running): Promise<number> {
  const { flags: given, args: words, daemon } = context;
  if ((given.all ?? false) === words.device.length > 0) throw usage(devices, "name the devices, or use --all");
  const { revoked } = await daemon.call("devicesRevoke", given.all ? { all: true } : { devices: [...words.device] });
  return present(
    revoked,
    revoked.length === 0 ? "no browser was signed in" : revoked.map(({ id, name }) => `signed out ${id} (${name})`),
    context,
  );
}

function rows(found: readonly DeviceView[], { terminal }: Running): string[] {
  const now = terminal.now();
  const cells = found.map(({ id, name, scope, state, addedAt, lastUsedAt }): Cell[] => [
    { text: id, style: "bold" },
    { text: name },
    { text: scope },
    { text: state, style: state === "active" ? "green" : "dim" },
    { text: clockTime(addedAt, now) },
    { text: `${span(now - lastUsedAt)} ago` },
  ]);
  return table(["ID", "DEVICE", "SCOPE", "STATE", "SIGNED IN", "LAST USED"], cells, terminal.paint, terminal.width());
}
