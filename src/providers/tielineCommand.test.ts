import { expect, test } from "bun:test";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent } from "../testing/agents.ts";
import { tielineCommand } from "./tielineCommand.ts";
import { providers } from "../compose/providers.ts";

test("gives an agent a command that its shell finds and that reaches its home", () => {
  const folder = mkdtempSync(join(tmpdir(), "tl-command-"));
  try {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    writeFileSync(join(bin, "tieline"), "#!/bin/sh\n");
    chmodSync(join(bin, "tieline"), 0o755);
    const home = join(folder, ".tieline");
    const found = { HOME: folder, PATH: `/usr/bin:${bin}` };
    const of = (env: Record<string, string>) =>
      tielineCommand({ home, providers, program: `${home}/bin/tieline`, environ: () => env });
    const whole = `${home}/bin/tieline`;
    const adopted = anAgent({ name: "ana", provider: "claude-code", launch: null });
    expect(of(found)(adopted)).toBe("tieline");
    expect(of({ ...found, PATH: "/usr/bin" })(adopted)).toBe(whole);
    expect(of({ ...found, TIELINE_HOME: "/elsewhere" })(adopted)).toBe(whole);
    expect(of({ ...found, HOME: "/elsewhere", TIELINE_HOME: home })(adopted)).toBe("tieline");
    // Where the system does not tell what a program was started with.
    expect(of({})(adopted)).toBe(whole);
    expect(of({})({ ...adopted, launch: {} })).toBe("tieline");
    expect(of(found)({ ...adopted, provider: "codex", launch: {} })).toBe(whole);
    expect(
      tielineCommand({ home, providers, program: "/with blank/bin/tieline" })({ ...adopted, provider: "codex" }),
    ).toBe("'/with blank/bin/tieline'");
  } finally {
    rmSync(folder, { recursive: true });
  }
});
