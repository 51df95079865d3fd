/**
 * Every intake in one project: an outbox, a log, a Claude Code team, a hook.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { until } from "../../src/testing/until.ts";
import { startWorld, type World } from "../../src/testing/world.ts";

const project = `team: web
agents:
  writer: { command: [sleep, "1000000"], workspace: room, input: files, logs: "logs/*.txt" }
`;

export interface Intakes extends AsyncDisposable {
  readonly world: World;
  /** Uses each of them once. */
  write(round: string): void;
  /** Until all of what was written in this round has arrived. */
  arrived(round: string): Promise<void>;
  log(): string;
}

/** With an agent `ana` in a pane beside them. */
export async function startIntakes(): Promise<Intakes> {
  const world = await startWorld({ files: { "tieline.yaml": project, "logs/a.txt": "" } });
  const home = (...names: string[]): string => join(world.env["TIELINE_HOME"]!, ...names);
  const team = join(world.dir, ".claude/teams/crew");
  mkdirSync(join(team, "inboxes"), { recursive: true });
  writeFileSync(
    join(team, "config.json"),
    JSON.stringify({ name: "crew", leadAgentId: "team-lead@crew", members: [{ name: "bob" }] }),
  );
  const up = await world.tieline(["up"]);
  if (up.code !== 0) throw new Error(up.stdout + up.stderr);
  const pane = await world.pane(["cat"]);
  await world.json(["adopt", pane, "--name", "ana", "--provider", "generic"]);
  const socket = (await world.tmux("display-message", "-p", "#{socket_path}")).trim();
  const outbox = join(world.project, "room/.outbox");
  await until(() => existsSync(outbox), "the outbox");
  let second = 0;
  const stamp = (): string => `[2026-01-31 09:00:${String(second++).padStart(2, "0")}]`;

  function whole(path: string, text: string): void {
    writeFileSync(`${path}.new`, text);
    renameSync(`${path}.new`, path);
  }

  /** A member of a Claude Code team writes to the user. */
  function nativeRow(text: string): void {
    const inbox = join(team, "inboxes/user.json");
    const rows = existsSync(inbox) ? (JSON.parse(readFileSync(inbox, "utf8")) as object[]) : [];
    whole(inbox, JSON.stringify([...rows, { from: "bob", text, timestamp: new Date().toISOString(), read: false }]));
  }

  /** A finished hook call, as the hook script leaves it. */
  function spool(name: string): void {
    const payload = { session_id: "s-1", hook_event_name: "SessionStart", source: "startup" };
    writeFileSync(home("hooks/spool", `${name}.call`), `claude-code\t${socket}\t${pane}\t\n${JSON.stringify(payload)}`);
    writeFileSync(home("hooks/spool", `${name}.done`), "");
  }

  return {
    world,
    write(round) {
      whole(join(outbox, `${round}.json`), JSON.stringify({ to: "user", content: `outbox ${round}` }));
      appendFileSync(join(world.project, "logs/a.txt"), `${stamp()} RES: @user: log ${round}\n${stamp()} RES: .\n`);
      nativeRow(`team ${round}`);
      spool(String(second));
    },
    async arrived(round) {
      const wanted = [`outbox ${round}`, `log ${round}`, `team ${round}`];
      const bodies = async (): Promise<string[]> => (await world.inbox("user")).map(({ body }) => body);
      const missing = async (): Promise<string[]> => {
        const all = await bodies();
        return wanted.filter((body) => !all.includes(body));
      };
      await until(
        async () => (await missing()).length === 0,
        async () => (await missing()).join(", "),
        40_000,
      );
      await until(() => readdirSync(home("hooks/spool")).length === 0, `the hook calls of ${round}`);
    },
    log: () => readFileSync(home("daemon.log"), "utf8"),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
