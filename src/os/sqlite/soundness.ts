import { Database } from "bun:sqlite";

/** A disk that stumbles may do so more than once. */
const pausesMs = [50, 500];
const validMs = 10_000;

export type DatabaseCondition =
  | { readonly kind: "sound" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "damaged"; readonly what: string };

const sound: DatabaseCondition = { kind: "sound" };

/**
 * The condition of an open database, by looking at the whole file. That takes seconds for a gigabyte, so it is asked
 * only after something went wrong, and an answer holds for a while. Damage counts only when it is there at every look.
 */
export class Soundness {
  #last: DatabaseCondition = sound;
  #lastAt = -Infinity;

  /** `prepare` makes the tables that the database should have. */
  constructor(
    private readonly database: Database,
    private readonly prepare: (database: Database) => void,
    private readonly elapsed: () => number = () => performance.now(),
  ) {}

  condition(): DatabaseCondition {
    if (this.elapsed() - this.#lastAt < validMs) return this.#last;
    this.#last = this.#look();
    for (const pauseMs of pausesMs) {
      if (this.#last.kind === "sound") break;
      Bun.sleepSync(pauseMs);
      this.#last = this.#look();
    }
    this.#lastAt = this.elapsed();
    return this.#last;
  }

  /** Pages in memory may come from a read that failed. */
  forgetPages(): void {
    this.database.run("PRAGMA shrink_memory");
  }

  #look(): DatabaseCondition {
    try {
      this.forgetPages();
      const what = damageIn(this.database) ?? this.#otherTables();
      if (what === null) return sound;
      // SQLite's words for a page that the disk did not give.
      return what.includes("unable to get the page") ? { kind: "unreadable" } : { kind: "damaged", what };
    } catch (thrown) {
      const { code = "", message } = thrown as { code?: string; message: string };
      return code.startsWith("SQLITE_IOERR") ? { kind: "unreadable" } : { kind: "damaged", what: message };
    }
  }

  #otherTables(): string | null {
    using right = new Database(":memory:");
    this.prepare(right);
    const found = new Map(schemaOf(this.database));
    const wrong = schemaOf(right).find(([name, sql]) => found.get(name) !== sql);
    return wrong ? `its table or index ${wrong[0]} is not as it should be` : null;
  }
}

/** What SQLite itself finds in the whole file: pages, rows, indexes, references. */
export function damageIn(database: Database): string | null {
  const [problem] = all<{ integrity_check: string }>(database, "PRAGMA integrity_check(1)");
  if (problem?.integrity_check !== "ok") return problem?.integrity_check ?? "it cannot be checked";
  const [broken] = all<{ table: string; parent: string }>(database, "PRAGMA foreign_key_check");
  return broken ? `a row in ${broken.table} refers to one in ${broken.parent} that is missing` : null;
}

const schemaOf = (database: Database): [string, string | null][] =>
  all<{ name: string; sql: string | null }>(database, "SELECT name, sql FROM sqlite_schema ORDER BY name").map(
    ({ name, sql }) => [name, sql],
  );

function all<Row>(database: Database, sql: string): Row[] {
  using statement = database.prepare<Row, []>(sql);
  return statement.all();
}
