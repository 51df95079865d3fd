import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { UserScreens } from "./userScreens.ts";
import { providers } from "../compose/providers.ts";

test(
  "the built-in rules without a file, the user's from the moment it is there, and the built-in ones again when " +
    "it goes",
  () => {
    const directory = mkdtempSync(join(tmpdir(), "tl-screens-"));
    const file = join(directory, "codex.json");
    const screens = new UserScreens(directory, providers);
    const names = (): string[] => screens.manifest("codex").rules.map(({ name }) => name);
    const builtIn = providers.screen("codex").rules.map(({ name }) => name);

    expect(names()).toEqual(builtIn);
    writeFileSync(
      file,
      JSON.stringify({ provider: "codex", rules: [{ name: "mine", state: "working", why: "I say so" }] }),
    );
    expect(names()).toEqual(["mine", ...builtIn]);
    writeFileSync(file, "{ not json");
    expect(names).toThrow(expect.objectContaining({ code: "CONFIG_INVALID", message: expect.stringContaining(file) }));
    rmSync(directory, { recursive: true });
    expect(names()).toEqual(builtIn);
    expect(screens.manifest("codex")).toBe(screens.manifest("codex"));
  },
);
