import { describe, expect, test } from "bun:test";
import { TielineError } from "../../model/errors.ts";

import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { loadAll, registry } from "../registry.ts";
import { textOf } from "../../testing/childResult.ts";

const tieline = commandLineWithDaemon();

describe("the command line itself", () => {
  test("an unknown command names the nearest", async () => {
    const { code, stdout, stderr } = await tieline.run(["sned"]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toStartWith('error USAGE: unknown command "sned"; did you mean "send"?\n');
    expect((await tieline.run(["help", "sned"])).stderr).toBe(stderr);
    expect(await tieline.json(["constructor"])).toMatchObject({ error: { code: "USAGE" } });
  });

  test.each(Object.keys(registry))("%s --help shows usage and examples", async (name) => {
    const { code, stdout, stderr } = await tieline.run([name, "--help"]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(new RegExp(`Usage\n  tieline ${name}`));
    expect(stdout).toContain("\nExamples\n");
  });

  test("each name in the registry is that of its command", async () => {
    expect((await loadAll()).map(({ name }) => name)).toEqual(Object.keys(registry));
  });

  test.each([[[]], [["help"]], [["--help"]], [["-h"]]])("tieline %j lists every command", async (args) => {
    const { code, stdout } = await tieline.run(args);
    expect(code).toBe(0);
    for (const name of Object.keys(registry)) expect(stdout).toContain(`  ${name} `);
  });

  test("version", async () => {
    expect((await tieline.run(["--version"])).stdout).toMatch(/^tieline \d+\.\d+\.\d+ \(Bun .*\)\n$/);
  });

  test("a reader that has seen enough is no error", async () => {
    tieline.daemon.answers.read = ({ agent: name }) => ({ agent: name, pane: "%1", text: "x\n".repeat(500_000) });
    const reading = tieline.start(["read", "engineer"]);
    const reader = reading.stdout.getReader();
    await reader.read();
    await reader.cancel();
    expect(await reading.exited).toBe(0);
    expect(await textOf(reading.stderr)).toBe("");
  });

  test("an error keeps its exit code through every layer", async () => {
    tieline.daemon.answers.read = () => {
      throw new TielineError("TMUX_UNAVAILABLE", "tmux is not installed", { remedy: "install tmux 3.2 or newer" });
    };
    expect(await tieline.run(["read", "engineer"])).toEqual({
      code: 5,
      stdout: "",
      stderr: "error TMUX_UNAVAILABLE: tmux is not installed\n  install tmux 3.2 or newer\n",
    });
  });
});
