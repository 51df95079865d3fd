import { existsSync } from "node:fs";
import { join } from "node:path";
import { inHome } from "../folders.ts";
import { jsonText } from "../mcpSettings.ts";
import type { Provider } from "../port.ts";
import { connect } from "./connection.ts";
import { opencodeServerKind } from "./sessions.ts";
import { launching } from "./launch.ts";
import screen from "./screen.json";

export const opencode: Provider = {
  ...launching,
  name: "opencode",
  title: "opencode",
  program: "opencode",
  packages: ["opencode-ai"],
  screen,
  mcp: {
    file: (env) => settingsIn(join(env["XDG_CONFIG_HOME"] || inHome(env, ".config"), "opencode")),
    registry: jsonText(["mcp", "tieline"]),
    entry: (command) => ({ type: "local", command: [command, "mcp"], enabled: true }),
  },
  childVariables: ["OPENCODE"],
  connect,
  endpoints: [opencodeServerKind.schema],
};

/** It reads both files; the one with comments is edited where it exists. */
function settingsIn(folder: string): string {
  const commented = join(folder, "opencode.jsonc");
  return existsSync(commented) ? commented : join(folder, "opencode.json");
}
