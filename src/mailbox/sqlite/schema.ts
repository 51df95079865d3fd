import { proofs } from "../../model/delivery.ts";
import { kinds, whens } from "../../model/message.ts";
import type { Migration } from "../../os/sqlite/connection.ts";
import { addMissingChecksums } from "./checksum.ts";
import { addVerbs, replaceRenamedWords } from "./renamedWords.ts";
import { countHistory } from "./statistics.ts";

const oneOf = (column: string, values: readonly string[]): string =>
  `CHECK (${column} IN (${values.map((v) => `'${v}'`).join(", ")}))`;

/** As the first version called them. */
const firstStates = ["queued", "claimed", "handed", "seen", "answered", "uncertain", "failed", "expired", "cancelled"];

const firstVerbs = ["accept", "claim", "hold", "settle", "confirm", "expire", "cancel", "retry", "recover"];

/**
 * Message bodies and delivery states live in separate tables, because the first never change and the second do.
 */
export const mailboxMigrations: readonly Migration[] = [
  `
  CREATE TABLE mailbox (id TEXT NOT NULL) STRICT;

  CREATE TABLE messages (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    tag TEXT NOT NULL UNIQUE,
    from_id TEXT NOT NULL,
    from_name TEXT NOT NULL,
    from_team TEXT NOT NULL,
    known_by TEXT NOT NULL,
    to_text TEXT NOT NULL,
    team TEXT NOT NULL,
    body TEXT NOT NULL,
    summary TEXT NOT NULL,
    kind TEXT NOT NULL ${oneOf("kind", kinds)},
    served TEXT NOT NULL ${oneOf("served", whens)},
    hard INTEGER NOT NULL,
    in_reply_to TEXT,
    thread TEXT NOT NULL,
    expects_reply INTEGER NOT NULL,
    starts INTEGER NOT NULL,
    expires_at INTEGER,
    hops INTEGER NOT NULL,
    idempotency_key TEXT,
    accepted_at INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX messages_by_key ON messages (from_id, idempotency_key) WHERE idempotency_key IS NOT NULL;
  CREATE INDEX messages_by_sender ON messages (from_id, accepted_at);
  CREATE INDEX messages_by_thread ON messages (thread, seq);
  CREATE INDEX messages_by_age ON messages (accepted_at);

  CREATE TABLE deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    message INTEGER NOT NULL REFERENCES messages (seq),
    agent TEXT NOT NULL,
    agent_name TEXT NOT NULL,
    state TEXT NOT NULL ${oneOf("state", firstStates)},
    served TEXT NOT NULL ${oneOf("served", whens)},
    wakes INTEGER NOT NULL,
    reason TEXT,
    detail TEXT,
    reason_at INTEGER,
    attempts INTEGER NOT NULL,
    proof TEXT ${oneOf("proof", proofs)},
    transport TEXT,
    authority TEXT ${oneOf("authority", ["user", "peer"])},
    warning TEXT,
    lane TEXT ${oneOf("lane", ["push", "boundary"])},
    claimed_at INTEGER,
    lease_until INTEGER,
    expires_at INTEGER,
    available_at INTEGER,
    answered_at INTEGER,
    queued_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    CHECK ((state = 'claimed') = (lane IS NOT NULL))
  ) STRICT;
  CREATE INDEX deliveries_by_message ON deliveries (message);
  CREATE INDEX deliveries_by_agent ON deliveries (agent, id);
  CREATE INDEX deliveries_queued ON deliveries (agent, served, id) WHERE state = 'queued' AND wakes = 1;
  CREATE INDEX deliveries_open ON deliveries (state, id, agent) WHERE state IN ('queued', 'claimed', 'uncertain');
  CREATE INDEX deliveries_pending ON deliveries (agent, id) WHERE state IN ('queued', 'claimed', 'uncertain');
  CREATE INDEX deliveries_dead ON deliveries (state, id) WHERE state IN ('failed', 'expired');
  CREATE INDEX deliveries_handed ON deliveries (id) WHERE state = 'handed';
  CREATE UNIQUE INDEX deliveries_one_push ON deliveries (agent) WHERE state = 'claimed' AND lane = 'push';
  CREATE INDEX deliveries_expiring ON deliveries (expires_at) WHERE state = 'queued' AND expires_at IS NOT NULL;
  CREATE INDEX deliveries_delayed ON deliveries (available_at) WHERE state = 'queued' AND available_at IS NOT NULL;
  CREATE INDEX deliveries_leased ON deliveries (lease_until) WHERE state = 'claimed' AND lease_until IS NOT NULL;

  CREATE TABLE history (
    id INTEGER PRIMARY KEY,
    delivery INTEGER NOT NULL REFERENCES deliveries (id),
    at INTEGER NOT NULL,
    verb TEXT NOT NULL ${oneOf("verb", firstVerbs)},
    from_state TEXT,
    to_state TEXT NOT NULL ${oneOf("to_state", firstStates)},
    reason TEXT,
    detail TEXT,
    proof TEXT,
    transport TEXT,
    authority TEXT
  ) STRICT;
  CREATE INDEX history_by_delivery ON history (delivery, id);
  `,
  `
  CREATE VIRTUAL TABLE message_words USING fts5 (body, content = 'messages', content_rowid = 'seq', \
tokenize = 'unicode61 remove_diacritics 2');
  CREATE TABLE message_words_progress (up_to INTEGER NOT NULL) STRICT;
  INSERT INTO message_words_progress VALUES (0);
  `,
  `
  ALTER TABLE messages ADD COLUMN checksum TEXT;
  ALTER TABLE mailbox ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
  `,
  addMissingChecksums,
  `
  ALTER TABLE deliveries ADD COLUMN notes TEXT;
  ALTER TABLE deliveries ADD COLUMN state_at INTEGER;
  `,
  `
  ALTER TABLE history ADD COLUMN left_out INTEGER;
  `,
  replaceRenamedWords,
  addVerbs,
  `
  CREATE INDEX messages_by_team ON messages (team, seq);
  CREATE INDEX deliveries_by_recipient ON deliveries (agent, message);
  CREATE TABLE statistics (
    size INTEGER NOT NULL,
    measure TEXT NOT NULL,
    at INTEGER NOT NULL,
    team TEXT NOT NULL,
    label TEXT NOT NULL,
    bound INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (size, measure, at, team, label, bound)
  ) STRICT, WITHOUT ROWID;
  `,
  countHistory,
];
