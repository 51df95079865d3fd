/**
 * A Codex on its own, as far as the system and its files show: it holds the lock of its thread, writes the thread
 * down, and runs its queue. `codex <thread>`, and beside it `codex queue --thread … --message …`.
 */
import { appendFileSync, existsSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { parseArgs } from "node:util";

interface Queued {
  readonly thread: string;
  readonly message: string;
}

/** Where the thread is written down; the folder is named by the day in its id. */
export function rolloutIn(codexHome: string, thread: string): string {
  const day = new Date(Number.parseInt(thread.replaceAll("-", "").slice(0, 12), 16)).toISOString().slice(0, 10);
  return join(codexHome, "sessions", ...day.split("-"), `rollout-${day}T00-00-00-${thread}.jsonl`);
}

/** The messages in its thread, in order. */
export function toldIn(rollout: string): string[] {
  const turns = linesOf(rollout).map(
    (line) => JSON.parse(line) as { payload: { role?: string; content?: readonly { text: string }[] } },
  );
  return turns.filter(({ payload }) => payload.role === "user").map(({ payload }) => payload.content![0]!.text);
}

/**
 * The same as one executable, because that is what a process is known by. The compiler is Bun itself, and what it makes
 * is as large as Bun: once for all tests of a file is enough.
 */
export async function compileCodex(folder: string): Promise<string> {
  const program = join(folder, "codex");
  await Bun.$`${process.execPath} build --compile ${import.meta.path} --outfile ${program}`.cwd(folder).quiet();
  return program;
}

if (import.meta.main) {
  const [thread, ...options] = process.argv.slice(2);
  const codexHome = process.env["CODEX_HOME"]!;
  if (thread === "queue") enqueue(codexHome, options);
  else converse(codexHome, thread!);
}

/** A thread without a record is not known by its id. */
function enqueue(codexHome: string, options: readonly string[]): void {
  const { thread, message } = parseArgs({
    args: [...options],
    options: { thread: { type: "string" }, message: { type: "string" } },
  }).values as unknown as Queued;
  if (!existsSync(rolloutIn(codexHome, thread))) {
    process.stderr.write(`no rollout found for thread id ${thread}\n`);
    process.exit(1);
  }
  appendFileSync(queueIn(codexHome), `${JSON.stringify({ thread, message } satisfies Queued)}\n`);
}

/** The lock is held and the thread has started once its first line is written. Codex itself polls less often. */
function converse(codexHome: string, thread: string): void {
  const [locks, rollout] = [join(codexHome, "thread-writer-locks"), rolloutIn(codexHome, thread)];
  for (const folder of [locks, dirname(rollout)]) mkdirSync(folder, { recursive: true });
  openSync(join(locks, `${thread}.lock`), "w");
  const record = (type: string, payload: object): void =>
    appendFileSync(rollout, `${JSON.stringify({ type, payload })}\n`);
  record("session_meta", { id: thread });
  let taken = 0;
  setInterval(() => {
    const queued = linesOf(queueIn(codexHome));
    for (const line of queued.slice(taken)) {
      const { message } = JSON.parse(line) as Queued;
      record("response_item", { type: "message", role: "user", content: [{ type: "input_text", text: message }] });
    }
    taken = queued.length;
  }, 20);
}

/** Those that stand there whole. */
function linesOf(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
}

function queueIn(codexHome: string): string {
  return join(codexHome, "queue.jsonl");
}
