/** What installed programs say about themselves: flags and their values differ from version to version. */
import { realpathSync, statSync } from "node:fs";
import { systemTimers, type Timers } from "../os/timers.ts";

export interface Asked {
  /** Where it is installed. */
  readonly path: string;
  /** The one argument that makes it answer and end, such as `--help`. */
  readonly question: string;
  readonly env: Readonly<Record<string, string>>;
}

type Run = (asked: Asked) => Promise<string | null>;

/** Each file is asked once. A reinstalled program is another file. */
export class ProgramAnswers {
  private readonly known = new Map<string, Promise<string | null>>();

  constructor(private readonly run: Run = runBriefly(systemTimers)) {}

  /** Null: it did not answer in time, or with an error. It is asked again then. */
  async of(asked: Asked): Promise<string | null> {
    const key = `${asked.question} ${identityOf(asked.path)}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const answer = this.run(asked);
    this.known.set(key, answer);
    if ((await answer) === null) this.known.delete(key);
    return answer;
  }
}

function identityOf(path: string): string {
  const file = realpathSync(path);
  const { dev, ino, size, mtimeMs } = statSync(file);
  return [file, dev, ino, size, mtimeMs].join(" ");
}

const patienceMs = 10_000;
const longestAnswer = 200_000;

export const runBriefly =
  (timers: Pick<Timers, "timeout">): Run =>
  async ({ path, question, env }) => {
    const child = Bun.spawn([path, question], {
      env: { ...env },
      cwd: "/",
      stdin: "ignore",
      stdout: "pipe",
      stderr: "ignore",
      signal: timers.timeout(patienceMs),
    });
    const [text, code] = await Promise.all([new Response(child.stdout).text(), child.exited]);
    return code === 0 ? text.slice(0, longestAnswer) : null;
  };
