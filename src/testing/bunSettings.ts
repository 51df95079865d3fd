import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A directory as a stranger may have prepared it: every file that Bun obeys where it is started. Each prints "planted".
 */
export function plantBunSettings(directory: string): void {
  mkdirSync(directory, { recursive: true });
  const everything = { compilerOptions: { baseUrl: ".", paths: { "*": ["./planted.ts"] } } };
  const files = {
    "planted.ts": `console.log("planted");\n`,
    "bunfig.toml": `preload = ["./planted.ts"]\n`,
    "tsconfig.json": JSON.stringify(everything),
    ".env": "TIELINE_SANDBOX=\nTIELINE_HOME=planted\n",
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
}
