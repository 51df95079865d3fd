import { describe, expect, test } from "bun:test";
import { dirname } from "node:path";
import type { GrowingFiles, WholeLines } from "../os/growingFiles.ts";

export interface GrowingFilesUnderTest extends Disposable {
  readonly files: GrowingFiles;
  /** A file that is not there yet, in a folder that is. */
  readonly path: string;
  /** A file outside of that folder. */
  readonly outside: string;
  append(path: string, text: string): void;
  remove(path: string): void;
}

/** What readers of growing files rely on, on a disk and in memory. */
export function growingFilesContract(name: string, open: () => GrowingFilesUnderTest): void {
  describe(`growing files contract: ${name}`, () => {
    const linesOf = ({ files, path }: GrowingFilesUnderTest, from: number): WholeLines | null =>
      files.wholeLines(path, { below: dirname(path) }, () => from);
    const textOf = (lines: WholeLines | null): string | undefined => lines?.bytes.toString("utf8");

    test("a missing file has no lines and no size", () => {
      using subject = open();
      expect(linesOf(subject, 0)).toBeNull();
      expect(subject.files.sizeOf(subject.path)).toBe(0);
    });

    test("only whole lines are read, and the rest once it is whole", () => {
      using subject = open();
      const { files, path, append } = subject;
      append(path, "one\ntwo\nthr");
      const first = linesOf(subject, 0);
      expect(first).toMatchObject({ from: 0, end: 8 });
      expect(textOf(first)).toBe("one\ntwo\n");
      expect(files.sizeOf(path)).toBe(11);
      const none = linesOf(subject, 8);
      expect(none).toMatchObject({ from: 8, end: 8, more: false });
      expect(textOf(none)).toBe("");
      append(path, "ee ✓\n");
      expect(textOf(linesOf(subject, 8))).toBe("three ✓\n");
    });

    test("`begin` gets the size, and the same inode as long as it is the same file", () => {
      using subject = open();
      const { files, path, append } = subject;
      const seen: { size: number; inode: number }[] = [];
      const look = (): void =>
        void files.wholeLines(path, { below: dirname(path) }, (file) => {
          seen.push(file);
          return 0;
        });
      append(path, "one\n");
      look();
      append(path, "two\n");
      look();
      expect(seen.map(({ size }) => size)).toEqual([4, 8]);
      expect(seen[1]!.inode).toBe(seen[0]!.inode);
    });

    test("a file that was removed is missing", () => {
      using subject = open();
      subject.append(subject.path, "one\n");
      subject.remove(subject.path);
      expect(linesOf(subject, 0)).toBeNull();
    });

    test("a file outside of its folder is refused", () => {
      using subject = open();
      const { files, path, outside, append } = subject;
      append(outside, "one\n");
      expect(() => files.wholeLines(outside, { below: dirname(path) }, () => 0)).toThrow(
        expect.objectContaining({ code: "FILE_REFUSED" }),
      );
    });

    test("a folder that is there can be watched, again and again, and the watch ended twice", () => {
      using subject = open();
      const { files, path, append } = subject;
      append(path, "one\n");
      const watcher = files.renewWatcher(undefined, dirname(path), () => undefined);
      expect(watcher).toBeDefined();
      expect(files.renewWatcher(watcher, dirname(path), () => undefined)).toBe(watcher!);
      watcher!.close();
      expect(() => watcher!.close()).not.toThrow();
      expect(files.renewWatcher(undefined, `${dirname(path)}/nothing`, () => undefined)).toBeUndefined();
    });
  });
}
