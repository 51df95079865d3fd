import { afterEach, beforeEach } from "bun:test";
import { commandLine, type CommandLine } from "./commandLine.ts";
import { fakeDaemon, type Answers, type FakeDaemon } from "./fakeDaemon.ts";

export interface CommandLineWithDaemon extends Omit<CommandLine, typeof Symbol.dispose> {
  readonly daemon: FakeDaemon;
  /** The inputs of all calls so far, without `whoami`, by which lists know the caller's team. */
  inputs(): Record<string, unknown>[];
  /** What the command prints with `--json`. */
  json(args: readonly string[]): Promise<ReturnType<typeof JSON.parse>>;
}

/** A fresh command line and a fake daemon in its home for each test of the file. */
export function commandLineWithDaemon(answers: Answers = {}): CommandLineWithDaemon {
  let tieline: CommandLine;
  let daemon: FakeDaemon;
  beforeEach(() => {
    tieline = commandLine();
    daemon = fakeDaemon(tieline.home.socket, { ...answers });
  });
  afterEach(async () => {
    await daemon[Symbol.asyncDispose]();
    tieline[Symbol.dispose]();
  });

  return {
    get daemon() {
      return daemon;
    },
    get home() {
      return tieline.home;
    },
    get dir() {
      return tieline.dir;
    },
    get env() {
      return tieline.env;
    },
    run: (args, options) => tieline.run(args, options),
    runOnTerminal: (args, options) => tieline.runOnTerminal(args, options),
    start: (args, options) => tieline.start(args, options),
    inputs: () => daemon.calls.filter(({ name }) => name !== "whoami").map(({ input }) => input),
    json: async (args) => JSON.parse((await tieline.run([...args, "--json"])).stdout),
  };
}
