/**
 * Keys that a user presses between our paste and our Enter would join our text. tmux runs the keys of a client one
 * after the other, and a key waits while the command of the key before it waits. So the clients that type into the pane
 * get, for that moment, a key table whose only entry waits for a lock of ours and then passes the key on. No key is
 * lost, and their order stays. A key waits two seconds at most, also when our process dies: a timer of the tmux server
 * ends the pause then.
 */
import { isViewed, type ClientFacts, type PaneFacts } from "./pane.ts";
import { quote } from "./quote.ts";
import type { TmuxServer } from "./server.ts";

export interface KeyPause {
  /**
   * Its name among all of the server: of its lock, of its key table, and the value of `@tieline_paused` while it lasts.
   */
  readonly id: string;
  readonly pane: string;
  readonly clients: readonly string[];
}

/** What `@tieline_paused` holds once a key waits. */
export const keyWaits = ({ id }: KeyPause): string => `${id}!`;

/** A key waits this long at most. */
const longestSeconds = 2;

/**
 * The pause that a paste into this pane needs; null: no client types there. The user's own keys without a prefix are
 * copied into its table and work as always; a client in another table, as after the prefix, keeps that.
 */
export async function preparePause(
  server: TmuxServer,
  pane: PaneFacts,
  clients: readonly ClientFacts[],
): Promise<KeyPause | null> {
  const typing = clients.filter((client) => isViewed(pane, [client]) && client.keyTable === defaultTable);
  if (typing.length === 0) return null;
  const pause = { id: `tieline-${server.uniqueWord()}`, pane: pane.id, clients: typing.map(({ name }) => name) };
  const own = (await server.read([["list-keys", "-T", defaultTable]])).flatMap((line) => {
    const [, key = "", command = ""] = ownKey.exec(line) ?? [];
    return key === "" || mouse.test(key) ? [] : [`bind-key -T ${pause.id} ${key} ${command}`];
  });
  if (own.length > 0) await server.run(own.join(" ; "));
  return pause;
}

const defaultTable = "root";
const ownKey = /^bind-key\s+(?:-r\s+)?(?:-N\s+"(?:[^"\\]|\\.)*"\s+)?-T\s+root\s+(\S+)\s+(.*)$/;
const mouse = /^(?:[CMS]-)*(?:Mouse|Wheel|DoubleClick|TripleClick|SecondClick)/;

/** Commands of the list that pastes: after it no key of these clients reaches the pane until the pause ends. */
export function beginPause(
  pause: KeyPause,
  { program, socketPath }: Pick<TmuxServer, "program" | "socketPath">,
): string[] {
  const { id, pane, clients } = pause;
  const condition = `#{==:#{@tieline_paused},${keyWaits(pause)}}`;
  const end =
    `${shellQuote(program)} -S ${shellQuote(socketPath)} if-shell -F -t ${pane} '${condition}' ` +
    `'${ending(pause).join(" ; ")}' 'wait-for -U ${id}'`;
  // A shell command that fails or prints something would show in the user's pane.
  const later = `run-shell -b -d ${longestSeconds} ${quote(`${end} >/dev/null 2>&1 || :`.replaceAll("#", "##"))}`;
  const wait = [
    `set-option -p -t ${pane} @tieline_paused ${keyWaits(pause)}`,
    later,
    `wait-for -L ${id}`,
    `wait-for -U ${id}`,
    "send-keys",
  ];
  return [
    `bind-key -T ${id} Any { ${wait.join(" ; ")} }`,
    `wait-for -L ${id}`,
    `set-option -p -t ${pane} @tieline_paused ${id}`,
    ...clients.map((client) => `switch-client -c ${quote(client)} -T ${id}`),
  ];
}

/** Lets the keys go. Done as well when the pause has ended by itself, or its pane is gone. */
export async function endPause(server: TmuxServer, pause: KeyPause): Promise<void> {
  const { id, pane } = pause;
  const condition = quote(`#{m:${id}*,#{@tieline_paused}}`);
  const end = [...ending(pause), "display-message -p ended"].join(" ; ");
  const [told] = await server.run(`if-shell -F -t ${pane} ${condition} { ${end} }`);
  if (told === "ended") return;
  // It ended by itself, was never begun, or its pane is gone and cannot tell: what is left goes, where anything is.
  for (const rest of [`unbind-key -a -q -T ${id}`, `wait-for -U ${id}`]) await server.run(rest).catch(() => undefined);
}

/** A client whose table goes away is back in its usual one. */
const ending = (pause: KeyPause): string[] => [
  `set-option -p -u -t ${pause.pane} @tieline_paused`,
  `unbind-key -a -q -T ${pause.id}`,
  `wait-for -U ${pause.id}`,
];

const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
