/**
 * A user at an attached tmux client begins to type 0 to 150 ms after each message: how many of the deliveries to the
 * real programs, in their panes, are glued to the user's words, cut or lost. Takes some five seconds a delivery.
 *
 *     scripts/bench typing        or one program and a number of deliveries: bun bench/typing.ts codex 40
 */
import { startBench } from "../test/agents/bench.ts";
import type { AgentProgram } from "../test/agents/install.ts";
import { Switchboard } from "../test/agents/switchboard.ts";
import { typeWhileDelivering } from "../test/agents/typingUser.ts";

const [only, deliveries = "200"] = process.argv.slice(2);
const programs = (["claude-code", "codex"] as const).filter((program) => only === undefined || program === only);
for (const program of programs) await measure(program, Number(deliveries));

async function measure(program: AgentProgram, count: number): Promise<void> {
  await using board = await Switchboard.start({ guards: { perPairPerMinute: 1e6, perSenderPerMinute: 1e6 } });
  await using bench = await startBench(program);
  await board.adopt(bench);
  const rounds = await typeWhileDelivering(board, bench, count);
  const wrong = rounds.filter((round) => round.wrong !== null);
  const ways = Object.entries(Object.groupBy(rounds, ({ transport }) => transport ?? "none")).map(
    ([name, all]) => `${all!.length} by ${name}`,
  );
  console.log(`${program}: ${wrong.length} of ${rounds.length} spoiled (floor 0; ${ways.join(", ")})`);
  for (const round of wrong) console.log(`  ${round.afterMs} ms: ${round.wrong}`);
  if (wrong.length > 0) process.exitCode = 1;
}
