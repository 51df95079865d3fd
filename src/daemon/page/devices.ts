/**
 * The browsers that are signed in. A device is a key in the storage of a browser; it may open tabs only in the boot of
 * the daemon that it signed in to, because any program that has the port while the daemon is down can use what is
 * stored for the page's origin. A tab is a key in the memory of one open page, which no other page can use: it outlives
 * the daemon.
 */
import type { DeviceView } from "../../api/schemas/page.ts";
import { createHash, type KeyObject } from "node:crypto";
import { z } from "zod";
import { atomicWrite } from "../../os/atomicWrite.ts";
import { untrustedText } from "../../os/untrustedFile.ts";
import { publicKeyIn } from "./key.ts";
import type { Scheduled, Timers } from "../../os/timers.ts";
import type { RandomBytes } from "../../model/ids.ts";

/** What a device may do. */
const deviceScopes = ["full"] as const;

const Device = z.object({
  id: z.string(),
  name: z.string(),
  scope: z.enum(deviceScopes),
  /** SPKI, base64url. */
  key: z.string(),
  origin: z.string(),
  /** The boot of the daemon in which it signed in. */
  boot: z.string(),
  addedAt: z.number(),
  lastUsedAt: z.number(),
});
export type Device = z.infer<typeof Device>;

const Tab = z.object({ id: z.string(), device: z.string(), key: z.string(), origin: z.string(), usedAt: z.number() });

const Stored = z.object({ devices: z.array(Device), tabs: z.array(Tab) });

/** A tab while this daemon runs. */
export interface OpenTab {
  readonly id: string;
  readonly device: Device;
  readonly origin: string;
  readonly key: KeyObject;
  /** Aborted when the tab is signed out. */
  readonly signal: AbortSignal;
}

export interface DevicesOptions {
  readonly file: string;
  /** The id of this run of the daemon. */
  readonly boot: string;
  readonly clock: () => number;
  readonly report: (context: string, fault: unknown) => void;
  readonly timers: Pick<Timers, "after">;
  readonly random: RandomBytes;
}

const unusedMs = 7 * 24 * 3_600_000;
const mostDevices = 100;
const mostTabs = 200;
const maxFileBytes = 1024 * 1024;
/** When a device was last used is written this late, so that a request costs no write. */
const writeDelayMs = 30_000;

export class Devices {
  readonly #options: DevicesOptions;
  readonly #devices = new Map<string, Device>();
  /** The least recently used first. */
  readonly #tabs = new Map<string, z.infer<typeof Tab>>();
  readonly #open = new Map<string, OpenTab & { readonly over: AbortController }>();
  /** Ids of devices whose tabs were used in this boot. */
  readonly #inUse = new Set<string>();
  #writing: Scheduled | null = null;

  constructor(options: DevicesOptions) {
    this.#options = options;
    const { devices, tabs } = this.#read();
    for (const device of devices) this.#devices.set(device.id, device);
    for (const tab of tabs.toSorted((a, b) => a.usedAt - b.usedAt))
      if (this.#devices.has(tab.device)) this.#tabs.set(tab.id, tab);
    this.#prune();
  }

  /** A device that has just signed in, with its first tab. */
  add({ name, key, origin }: Pick<Device, "name" | "key" | "origin">, tabKey: string): OpenTab {
    const now = this.#options.clock();
    const device: Device = {
      id: Buffer.from(this.#options.random(4)).toString("hex"),
      name,
      scope: "full",
      key,
      origin,
      boot: this.#options.boot,
      addedAt: now,
      lastUsedAt: now,
    };
    this.#devices.set(device.id, device);
    return this.openTab(device, tabKey);
  }

  /** The same key is the same tab. */
  openTab(device: Device, tabKey: string): OpenTab {
    const id = createHash("sha256").update(tabKey).digest("base64url").slice(0, 22);
    this.#tabs.set(id, { id, device: device.id, key: tabKey, origin: device.origin, usedAt: this.#options.clock() });
    this.#prune();
    this.flush();
    return this.tab(id)!;
  }

  /** null: never signed in, signed out, or not used for a week. */
  tab(id: string): OpenTab | null {
    const known = this.#open.get(id);
    if (known) return known;
    const tab = this.#tabs.get(id);
    const device = tab && this.#devices.get(tab.device);
    const key = tab && publicKeyIn(tab.key);
    if (!tab || !device || !key || this.#isUnused(tab.usedAt)) return null;
    const over = new AbortController();
    const open = { id, device, origin: tab.origin, key, signal: over.signal, over };
    this.#open.set(id, open);
    return open;
  }

  device(id: string): Device | null {
    const device = this.#devices.get(id);
    return device && !this.#isUnused(device.lastUsedAt) ? device : null;
  }

  /** Whether it may open tabs: it has signed in to this run of the daemon. */
  isActive({ boot }: Device): boolean {
    return boot === this.#options.boot;
  }

  used({ id, device }: OpenTab): void {
    const usedAt = this.#options.clock();
    const tab = this.#tabs.get(id)!;
    this.#tabs.delete(id);
    this.#tabs.set(id, { ...tab, usedAt });
    this.#devices.set(device.id, { ...this.#devices.get(device.id)!, lastUsedAt: usedAt });
    this.#inUse.add(device.id);
    this.#writing ??= this.#options.timers.after(writeDelayMs, () => this.flush(), { background: true });
  }

  list(): DeviceView[] {
    const views = [...this.#devices.values()].map((device): DeviceView => {
      const { id, name, scope, addedAt, lastUsedAt } = device;
      return {
        id,
        name,
        scope,
        addedAt,
        lastUsedAt,
        state: this.isActive(device) || this.#inUse.has(id) ? "active" : "dormant",
      };
    });
    return views.toSorted((a, b) => b.lastUsedAt - a.lastUsedAt);
  }

  /** Signs out the devices with these ids; the views of those that were there. */
  revoke(ids: readonly string[]): DeviceView[] {
    const revoked = this.list().filter(({ id }) => ids.includes(id));
    for (const { id } of revoked) this.#remove(id);
    if (revoked.length > 0) this.flush();
    return revoked;
  }

  /** Writes what changed. A disk that cannot take it is reported; everything continues in memory. */
  flush(): void {
    this.#writing?.cancel();
    this.#writing = null;
    try {
      atomicWrite(
        this.#options.file,
        `${JSON.stringify({ devices: [...this.#devices.values()], tabs: [...this.#tabs.values()] })}\n`,
      );
    } catch (thrown) {
      this.#options.report("the devices of the dashboard", thrown);
    }
  }

  #read(): z.infer<typeof Stored> {
    try {
      const text = untrustedText(this.#options.file, { maxBytes: maxFileBytes });
      return text === null ? { devices: [], tabs: [] } : Stored.parse(JSON.parse(text));
    } catch (thrown) {
      // A damaged file signs no browser in; the next sign-in replaces it.
      this.#options.report("the devices of the dashboard", thrown);
      return { devices: [], tabs: [] };
    }
  }

  #remove(id: string): void {
    this.#devices.delete(id);
    for (const tab of [...this.#tabs.values()]) if (tab.device === id) this.#close(tab.id);
  }

  #close(tab: string): void {
    this.#tabs.delete(tab);
    this.#open.get(tab)?.over.abort();
    this.#open.delete(tab);
  }

  #prune(): void {
    for (const { id, usedAt } of [...this.#tabs.values()])
      if (this.#isUnused(usedAt) || this.#tabs.size > mostTabs) this.#close(id);
    const byUse = [...this.#devices.values()].toSorted((a, b) => a.lastUsedAt - b.lastUsedAt);
    for (const { id, lastUsedAt } of byUse)
      if (this.#isUnused(lastUsedAt) || this.#devices.size > mostDevices) this.#remove(id);
  }

  #isUnused(usedAt: number): boolean {
    return this.#options.clock() - usedAt > unusedMs;
  }
}
