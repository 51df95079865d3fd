/** A file system of its own for tests that fill it. Needs root. */
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { lackUnless, type Lack } from "./needing.ts";

export interface SmallDisk extends Disposable {
  readonly dir: string;
  /** Writes until nothing more fits. */
  fill(): void;
  /** Removes what `fill` wrote. */
  empty(): void;
}

const canMount = (): boolean => {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return false;
  const dir = mkdtempSync(join(tmpdir(), "tl-mount-"));
  const mounted = mount(dir, 64 * 1024);
  if (mounted) unmount(dir);
  rmdirSync(dir);
  return mounted;
};
export const lackOfMounts = (): Lack => lackUnless(canMount(), "mounting a small file system needs root");

export function smallDisk(bytes: number): SmallDisk {
  const dir = mkdtempSync(join(tmpdir(), "tl-disk-"));
  if (!mount(dir, bytes)) throw new Error(`cannot mount a file system at ${dir}`);
  const ballast = join(dir, "ballast");
  return {
    dir,
    fill() {
      const fd = openSync(ballast, "a");
      try {
        for (let size = 64 * 1024; size >= 1;) {
          try {
            if (writeSync(fd, new Uint8Array(size)) < size) size = Math.floor(size / 2);
          } catch (thrown) {
            if ((thrown as NodeJS.ErrnoException).code !== "ENOSPC") throw thrown;
            size = Math.floor(size / 2);
          }
        }
      } finally {
        closeSync(fd);
      }
    },
    empty: () => rmSync(ballast, { force: true }),
    [Symbol.dispose]() {
      unmount(dir);
      rmdirSync(dir);
    },
  };
}

function mount(dir: string, bytes: number): boolean {
  return Bun.spawnSync(["mount", "-t", "tmpfs", "-o", `size=${bytes},mode=700`, "tmpfs", dir]).exitCode === 0;
}

function unmount(dir: string): void {
  Bun.spawnSync(["umount", "-l", dir]);
}
