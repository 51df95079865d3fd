import { dirname } from "node:path";
import { TielineError } from "../../../model/errors.ts";
import type { GrowingFiles } from "../../../os/growingFiles.ts";

interface MemoryFile {
  bytes: Buffer;
  readonly inode: number;
}

/** Files of a simulated disk. Readers hear of a change when `ring` is called, so that a world can delay or lose it. */
export class MemoryFiles implements GrowingFiles {
  readonly #files = new Map<string, MemoryFile>();
  readonly #rings = new Map<() => void, string>();
  #inodes = 0;

  append(path: string, text: string): void {
    const file = this.#files.get(path) ?? { bytes: Buffer.alloc(0), inode: ++this.#inodes };
    file.bytes = Buffer.concat([file.bytes, Buffer.from(text)]);
    this.#files.set(path, file);
  }

  /** The process or the machine died before the last bytes were on the disk. */
  loseTail(path: string, bytes: number): void {
    const file = this.#files.get(path);
    if (file) file.bytes = file.bytes.subarray(0, Math.max(0, file.bytes.length - bytes));
  }

  remove(path: string): void {
    this.#files.delete(path);
  }

  /** Something may have changed in the folder. */
  ring(folder: string): void {
    for (const [ring, watched] of [...this.#rings]) if (watched === folder) ring();
  }

  text(path: string): string {
    return this.#files.get(path)?.bytes.toString("utf8") ?? "";
  }

  readonly sizeOf: GrowingFiles["sizeOf"] = (path) => this.#files.get(path)?.bytes.length ?? 0;

  readonly wholeLines: GrowingFiles["wholeLines"] = (path, { below = [] }, begin) => {
    const folders = [below].flat();
    if (folders.length > 0 && !folders.some((folder) => path.startsWith(`${folder}/`)))
      throw new TielineError("FILE_REFUSED", `${path} is outside of ${folders.join(", ")}`, {
        remedy: "move it there",
        operands: { path, why: "outside" },
      });
    const file = this.#files.get(path);
    if (file === undefined) return null;
    const size = file.bytes.length;
    const from = Math.max(0, begin({ size, inode: file.inode }));
    const end = Math.max(from, file.bytes.lastIndexOf(0x0a) + 1);
    return { bytes: file.bytes.subarray(from, end), from, end, inode: file.inode, more: end > from && end < size };
  };

  readonly renewWatcher: GrowingFiles["renewWatcher"] = (watcher, folder, ring) => {
    if (watcher) return watcher;
    if (![...this.#files.keys()].some((path) => dirname(path) === folder)) return undefined;
    this.#rings.set(ring, folder);
    return { identity: folder, close: () => void this.#rings.delete(ring) };
  };
}
