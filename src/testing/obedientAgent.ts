import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ReceiptView } from "../api/schema.ts";
import { until } from "./until.ts";
import { type World } from "./world.ts";

/** Runs what follows `do: ` in a message, as an agent would, and keeps what it printed under the message's tag. */
export const obedientAgent = `#!/bin/sh
printf 'ready> '
while IFS= read -r line; do
  tag=\${line%%: *}
  case $line in
    *": do: "*)
      sh -c "\${line#*: do: }" >"out/$tag.part" 2>&1
      echo "exit $?" >>"out/$tag.part"
      mv "out/$tag.part" "out/$tag"
      ;;
  esac
  printf 'ready> '
done
`;

/** What a command prints when an agent runs it, with its exit code. The agent's directory is the project. */
export async function told(world: World, agent: string, command: string): Promise<string> {
  mkdirSync(join(world.project, "out"), { recursive: true });
  const { tag } = await world.json<ReceiptView>(["send", agent, `do: ${command}`]);
  const file = join(world.project, "out", tag);
  await until(() => existsSync(file), `${agent} to run ${command}`);
  return readFileSync(file, "utf8");
}
