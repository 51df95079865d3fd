/**
 * The older layout of a team's mail: a folder per member, a file per message. No two writers share a file, so there is
 * no lock. A reader removes what it has read.
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { entriesIn } from "../../../os/entries.ts";
import { replaceFile, textIn, type LockPatience } from "./lockedFile.ts";
import { isRow, type TeamInboxRow, type NativeInbox } from "./teamInbox.ts";

const fileName = /^msg-.*\.json$/;

export function dropFolder(folder: string, { random }: Pick<LockPatience, "random"> = {}): NativeInbox {
  const files = (): { path: string; row: TeamInboxRow | null }[] =>
    namesIn(folder).flatMap((name) => {
      const path = join(folder, name);
      const text = textIn(path);
      // Its reader was quicker.
      return text === "" ? [] : [{ path, row: parse(text) }];
    });
  const entries = (): { path: string; row: TeamInboxRow }[] =>
    files().flatMap(({ path, row }) => (row === null ? [] : [{ path, row }]));
  const holds = (messageId: string | undefined): boolean => entries().some(({ row }) => row.messageId === messageId);

  return {
    rows: () => entries().map(({ row }) => row),

    damaged: () => files().flatMap(({ path, row }) => (row === null ? [path] : [])),

    async append(row) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      // Names ascend with time, so that readers who sort them keep the order.
      replaceFile(
        join(folder, `msg-${Date.parse(row.timestamp)}-${row.messageId}.json`),
        JSON.stringify(row, null, 2),
        random,
      );
      return holds(row.messageId) ? "present" : "consumed";
    },

    async finish(isDone, how) {
      for (const { path, row } of entries().filter((one) => isDone(one.row))) {
        if (how === "remove") rmSync(path, { force: true });
        else replaceFile(path, JSON.stringify({ ...row, read: true }, null, 2), random);
      }
    },

    fateOf: ({ messageId }) => (holds(messageId) ? "present" : "consumed"),
  };
}

const namesIn = (folder: string): string[] =>
  entriesIn(folder)
    .filter((name) => fileName.test(name))
    .toSorted();

/** null: it is no row, or not complete yet. */
function parse(text: string): TeamInboxRow | null {
  try {
    const row: unknown = JSON.parse(text);
    return isRow(row) ? row : null;
  } catch {
    return null;
  }
}
