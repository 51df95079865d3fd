/** Keys of users: key tables, and keys that wait for a lock. */
import type { Flags } from "./flags.ts";
import { parseCommands, type Command } from "./language.ts";
import { CommandFailure, type SimulatedClient } from "./state.ts";

export interface KeysParts {
  readonly clients: readonly SimulatedClient[];
  /** The key reaches the pane. */
  readonly deliver: (paneId: string, key: string) => void;
  readonly run: (command: Command) => string[];
}

export class Keys {
  readonly #tables = new Map<string, Map<string, string>>();
  /** Names that are locked, and who waits for them. */
  readonly #locks = new Map<string, (() => void)[]>();

  constructor(private readonly parts: KeysParts) {}

  /** A key that a user presses at a terminal. It waits while the key table of the client makes it wait. */
  press(client: SimulatedClient, key: string): void {
    client.waiting.push(key);
    if (!client.blocked) this.#takeKeys(client);
  }

  /** A key waits while the command of the key before it waits. */
  #takeKeys(client: SimulatedClient): void {
    for (let key = client.waiting.shift(); key !== undefined; key = client.waiting.shift()) {
      const bound = this.#tables.get(client.keyTable);
      const action = bound?.get(key) ?? bound?.get("Any");
      if (action === undefined) this.parts.deliver(client.paneId, key);
      else this.#runBound(parseCommands(action), client, key);
      if (client.blocked) return;
    }
  }

  #runBound(commands: readonly Command[], client: SimulatedClient, key: string): void {
    for (const [at, command] of commands.entries()) {
      const [name, flag, lock] = command;
      if (name === "send-keys" && command.length === 1) this.parts.deliver(client.paneId, key);
      else if (name === "wait-for" && flag === "-L" && this.#locks.has(lock!)) {
        client.blocked = true;
        this.#locks.get(lock!)!.push(() => {
          client.blocked = false;
          this.#runBound(commands.slice(at + 1), client, key);
          if (!client.blocked) this.#takeKeys(client);
        });
        return;
      } else this.parts.run(command);
    }
  }

  bind(flags: Flags): string[] {
    const table = flags.get("T") ?? "prefix";
    const [key = "", ...action] = flags.words;
    const bound = this.#tables.get(table) ?? new Map<string, string>();
    this.#tables.set(table, bound.set(key, action.join(" ")));
    return [];
  }

  unbind(flags: Flags): string[] {
    const table = flags.get("T") ?? "prefix";
    if (!this.#tables.delete(table) && !flags.has("q")) throw new CommandFailure(`table ${table} doesn't exist`);
    for (const client of this.parts.clients) if (client.keyTable === table) client.keyTable = "root";
    return [];
  }

  listKeys(table: string): string[] {
    return [...(this.#tables.get(table) ?? [])].map(([key, action]) => `bind-key -T ${table} ${key} ${action}`);
  }

  waitFor(flags: Flags): string[] {
    const name = flags.words[0] ?? "";
    if (flags.has("L")) {
      if (this.#locks.has(name)) throw new CommandFailure(`${name} is locked, and nothing waits in this simulation`);
      this.#locks.set(name, []);
    } else if (flags.has("U")) {
      const waiting = this.#locks.get(name);
      if (waiting === undefined) throw new CommandFailure(`channel ${name} not locked`);
      this.#locks.delete(name);
      const [first, ...others] = waiting;
      if (first) {
        this.#locks.set(name, others);
        first();
      }
    }
    return [];
  }
}
