/** What is kept on disk: messages, documents, events, and copies of them. */
import { join } from "node:path";
import { documentMigrations, sqliteDocuments } from "../agents/directory/documents/sqlite.ts";
import type { Documents } from "../agents/directory/documents/port.ts";
import { ageingClock } from "../delivery/setClock.ts";
import { openEventStore } from "../events/sqlite.ts";
import { Spine } from "../events/spine.ts";
import { Backups } from "../mailbox/backups.ts";
import { Indexing } from "../mailbox/indexing.ts";
import { openMailbox } from "../mailbox/mailbox.ts";
import type { Mailbox } from "../mailbox/port.ts";
import { daysMs, Retention } from "../mailbox/retention.ts";
import { openMailboxFile } from "../mailbox/sqlite/file.ts";
import { mailboxMigrations } from "../mailbox/sqlite/schema.ts";
import { Snapshots } from "../mailbox/sqlite/snapshots.ts";
import { sqliteStore } from "../mailbox/sqlite/store.ts";
import type { Clock } from "../model/ids.ts";
import { copyistCommand } from "../os/install.ts";
import type { SteadyClock } from "../os/steadyClock.ts";
import { mebibyte, type Foundation } from "./options.ts";

export interface Storage {
  readonly mailbox: Mailbox;
  readonly documents: Documents;
  readonly events: Spine;
  readonly snapshots: Snapshots;
  readonly backups: Backups;
  readonly retention: Retention;
  readonly indexing: Indexing;
}

/** Throws DatabaseTaken when another process serves this home. */
export function openStorage(
  { options, config, clock, timers, random, report }: Omit<Foundation, "command">,
  steady: SteadyClock,
): Storage {
  const { maxAgeDays, maxMegabytes, eventsMegabytes } = config.retention;
  const maxAgeMs = daysMs(maxAgeDays);
  const eventsPath = join(options.root, "events.db");
  const { connection, checkpoints, changes } = openMailboxFile(
    options.mailboxPath,
    { mailbox: mailboxMigrations, documents: documentMigrations },
    { report, random, signsOfUse: [eventsPath, join(options.root, "user.token")] },
  );
  const pruneClock: Clock =
    options.clock ?? ageingClock(steady, () => mailbox.log({ limit: 1 })[0]?.message.acceptedAt ?? null, maxAgeMs);
  const events = new Spine(openEventStore(eventsPath, report, clock, timers.elapsed), {
    report,
    clock,
    timers,
    pruneClock,
    maxAgeMs,
    maxBytes: eventsMegabytes * mebibyte,
  });
  const mailbox = openMailbox(sqliteStore(connection), {
    ...{ clock, timers, random },
    maxAttempts: config.delivery.retries + 1,
    maxBytes: maxMegabytes * mebibyte,
  });
  const snapshots = new Snapshots({
    path: options.mailboxPath,
    checkpoints,
    command: copyistCommand,
    env: { ...options.env, BUN_RUNTIME_TRANSPILER_CACHE_PATH: "0" },
  });
  const backups = new Backups({
    ...{ report, clock, timers, changes, directory: options.backupsDirectory, keep: config.backup.keep },
    everyMs: config.backup.everyHours * 3_600_000,
    maxBytes: config.backup.maxMegabytes * mebibyte,
    copy: (to) => snapshots.take(to),
  });
  const retention = new Retention(mailbox, {
    ...{ maxAgeMs, report, timers, clock: pruneClock },
    maxBytes: maxMegabytes * mebibyte,
  });
  const indexing = new Indexing({ mailbox, report, timers });
  return { mailbox, documents: sqliteDocuments(connection), events, snapshots, backups, retention, indexing };
}
