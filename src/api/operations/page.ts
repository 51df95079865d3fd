import { z } from "zod";
import type { TmuxServers } from "../../agents/layout/servers.ts";
import { tmuxEndpoint } from "../../delivery/transports/paneEndpoint.ts";
import { endpointBy } from "../../model/agent.ts";
import { TielineError } from "../../model/errors.ts";
import { typeKeysGuarded } from "../../tmux/write.ts";
import { agentCalled, type Resolving } from "../addressed.ts";
import type { Callers } from "../callers.ts";
import { operation } from "../operation.ts";
import { oneAgent } from "../schemas/life.ts";
import { DeviceView, preferenceKey } from "../schemas/page.ts";

/** Browsers that are signed in, and links that sign one in. */
interface SignedIn {
  link(wanted: { readonly port: number; readonly byAddress: boolean; readonly fileIn: string | null }): {
    readonly url: string;
    readonly file: string | null;
  };
  readonly devices: {
    list(): DeviceView[];
    revoke(ids: readonly string[]): DeviceView[];
  };
}

export interface PageParts extends Resolving {
  readonly callers: Callers;
  /** null: not open yet. */
  readonly loopback: () => { readonly port: number; alsoAt(port: number): Promise<unknown> } | null;
  readonly sessions: SignedIn;
  readonly preferences: {
    read(): z.output<typeof Preferences>;
    set(values: z.output<typeof Preferences>): number;
  };
  readonly servers: TmuxServers;
}

const Preferences = z.record(preferenceKey, z.json());

/** What only the page and the user behind it need. */
export const pageOperations = [
  /** The user only. The link opens the page once, within a minute. */
  operation({
    name: "dash",
    summary: "Make a link that signs a browser in to the dashboard, once.",
    access: "user",
    input: z.object({
      port: z
        .number()
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe("serve the page at this port of the machine as well, until the daemon stops"),
      byAddress: z
        .boolean()
        .optional()
        .describe(
          "link to 127.0.0.1, for browsers that do not find names below localhost; weaker, see docs/security.md",
        ),
      fileIn: z
        .string()
        .optional()
        .describe(
          "a directory: write a private file that leads to the link; it is removed once the link was used or " +
            "has expired",
        ),
    }),
    output: z.object({ url: z.string(), port: z.number().int(), file: z.string().nullable() }),
    async run(parts: PageParts, { port: wanted, byAddress = false, fileIn = null }, { caller }) {
      const { callers, loopback, sessions } = parts;
      await callers.user(caller);
      const open = loopback();
      if (open === null) throw notYet();
      if (wanted !== undefined) await open.alsoAt(wanted);
      const port = wanted ?? open.port;
      return { ...sessions.link({ port, byAddress, fileIn }), port };
    },
  }),

  /** The user only. */
  operation({
    name: "devices",
    summary: "List the browsers that are signed in to the dashboard.",
    access: "user",
    input: z.object({}),
    output: z.array(DeviceView),
    async run(parts: PageParts, _, { caller }) {
      const { callers, sessions } = parts;
      await callers.user(caller);
      return sessions.devices.list();
    },
  }),

  /** The user only. */
  operation({
    name: "devicesRevoke",
    summary: "Sign browsers out of the dashboard.",
    access: "user",
    input: z.union([
      z.object({ devices: z.array(z.string()).min(1).describe("the ids of browsers") }),
      z.object({ all: z.literal(true).describe("every browser") }),
    ]),
    output: z.object({ revoked: z.array(DeviceView) }),
    async run(parts: PageParts, input, { caller }) {
      const { callers, sessions } = parts;
      await callers.user(caller);
      const known = sessions.devices.list().map(({ id }) => id);
      const wanted = "all" in input ? known : input.devices;
      const unknown = wanted.find((id) => !known.includes(id));
      if (unknown !== undefined) throw noDevice(unknown);
      return { revoked: sessions.devices.revoke(wanted) };
    },
  }),

  /** The user only. */
  operation({
    name: "preferences",
    summary: "Show the user's dashboard settings.",
    access: "user",
    input: z.object({}),
    output: Preferences,
    async run(parts: PageParts, _, { caller }) {
      const { callers, preferences } = parts;
      await callers.user(caller);
      return preferences.read();
    },
  }),

  /** The user only. null removes a key; the others stay. */
  operation({
    name: "preferencesSet",
    summary: "Change the user's dashboard settings.",
    access: "user",
    input: z.object({ values: Preferences.describe("the settings to change; null removes one") }),
    output: z.object({ bytes: z.number().int() }),
    async run(parts: PageParts, { values }, { caller }) {
      const { callers, preferences } = parts;
      await callers.user(caller);
      return { bytes: preferences.set(values) };
    },
  }),

  /** The user only. Types into an agent's pane as a keyboard would; control characters are keys. */
  operation({
    name: "typeKeys",
    summary: "Type keys into an agent's pane, as the user.",
    access: "user",
    input: oneAgent.extend({
      keys: z.string().min(1).max(4_096).describe("the text; control characters are keys"),
    }),
    output: z.object({ agent: z.string(), pane: z.string() }),
    async run(parts: PageParts, { agent: address, keys }, { caller }) {
      const { callers } = parts;
      const from = await callers.user(caller);
      const agent = agentCalled(address, from, parts);
      const endpoint = endpointBy("tmux", agent);
      if (endpoint === undefined) throw notTyped(agent.name, "it is in no pane");
      const { socket, pane, panePid, serverPid } = tmuxEndpoint.locatorOf(endpoint);
      const written = await typeKeysGuarded(parts.servers.at(socket), { pane, panePid, guards: { serverPid }, keys });
      if (!written.done) throw notTyped(agent.name, `its pane has changed (${written.failed.join(", ")})`);
      return { agent: agent.name, pane };
    },
  }),
] as const;

const notYet = (): TielineError =>
  new TielineError("DAEMON_UNAVAILABLE", "the daemon is still starting", { remedy: "try again in a moment" });

const noDevice = (id: string): TielineError =>
  new TielineError("TARGET_NOT_FOUND", `no device has the id ${id}`, {
    remedy: "`tieline devices ls` lists them",
    operands: { device: id },
  });

const notTyped = (agent: string, why: string): TielineError =>
  new TielineError("PANE_UNKNOWN", `nothing was typed to ${agent}: ${why}`, {
    remedy: "`tieline ls` shows where it is; leave copy mode in its pane first",
    operands: { agent },
  });
