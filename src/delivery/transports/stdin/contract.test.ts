import { describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withStreams } from "../../../agents/start/headless.ts";
import { queued } from "../../../mailbox/steps.ts";
import { deliveryId } from "../../../model/ids.ts";
import { seal } from "../../../model/message.ts";
import { anAgent } from "../../../testing/agents.ts";
import { user } from "../../../testing/mailboxContract.ts";
import { transportContract } from "../../../testing/transportContract.ts";
import { until } from "../../../testing/until.ts";
import type { Attempt } from "../port.ts";
import { hasReader, stdinEndpoint, streamsIn } from "../streams.ts";
import { standardInputTransport } from "./transport.ts";

/** A program that runs as a headless agent does, without tmux around it. */
async function aProgram(command: readonly string[]) {
  const home = mkdtempSync(join(tmpdir(), "tl-stdin-"));
  await Bun.$`mkdir ${join(home, "headless")}`;
  const streams = streamsIn(home, "ana.1");
  const child = Bun.spawn([...withStreams(command, streams, "text")], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
    detached: true,
  });
  await until(() => existsSync(streams.input), "the input");
  const endpoint = stdinEndpoint(streams);
  let ended: Promise<unknown> | undefined;
  const end = async (): Promise<void> => {
    // The shell that wraps it may have exited already; its group is gone only with the last of its processes.
    if (child.exitCode === null) ended ??= Bun.$`kill -KILL -- -${child.pid}`.nothrow().quiet();
    await ended;
    await child.exited;
    await until(() => !hasReader(streams.input), "all of its processes to end");
  };
  return {
    transport: standardInputTransport(),
    agent: anAgent({ name: "ana", provider: "headless", endpoints: [endpoint], state: "idle" }),
    endpoint,
    streams,
    printed: (): string => (existsSync(streams.output) ? readFileSync(streams.output, "utf8") : ""),
    vanish: end,
    async [Symbol.asyncDispose]() {
      await end();
      rmSync(home, { recursive: true, force: true });
    },
  };
}

transportContract(
  "stdin",
  async () => {
    const program = await aProgram(["cat"]);
    return {
      ...program,
      received: () =>
        program
          .printed()
          .split("\n")
          .filter((line) => line !== ""),
    };
  },
  { remembers: false, vanished: "gone" },
);

describe("a program's standard input", () => {
  type Program = Awaited<ReturnType<typeof aProgram>>;
  function attemptFor({ agent, endpoint }: Program, body: string): Attempt {
    const message = seal({ to: agent.name, body }, user, { inReplyTo: null, hops: 0 });
    return {
      message,
      delivery: { ...queued(message, agent), id: deliveryId(1), state: "claimed" },
      agent,
      endpoint,
      mark: "m",
    };
  }

  test("one line is a line, several lines are a frame, and a backslash joins nothing", async () => {
    await using program = await aProgram(["cat"]);
    const [short, long, slash] = [
      attemptFor(program, "one line\n"),
      attemptFor(program, "two\nlines"),
      attemptFor(program, "C:\\"),
    ];
    for (const attempt of [short, long, slash])
      expect((await program.transport.deliver(attempt, AbortSignal.timeout(10_000))).kind).toBe("delivered");
    const frame = ({ message: { tag, body } }: Attempt): string =>
      `[${tag} from user]\n${body}\n[end ${tag} · reply: tieline reply ${tag}]\n`;
    const wanted = `${short.message.tag}: one line\n${frame(long)}${frame(slash)}`;
    await until(() => program.printed().length >= wanted.length, "the text");
    expect(program.printed()).toBe(wanted);
  });

  test("a megabyte goes in whole as the program reads", async () => {
    await using program = await aProgram(["cat"]);
    const attempt = attemptFor(program, `${"x".repeat(1_000_000)}\nend`);
    expect((await program.transport.deliver(attempt, AbortSignal.timeout(30_000))).kind).toBe("delivered");
    await until(() => program.printed().includes("[end MSG"), "the end of the text");
    expect(program.printed()).toContain("x".repeat(1_000_000));
  });

  test("unread input is held; input that was read in part is unknown and spoils nothing", async () => {
    await using program = await aProgram([
      "sh",
      "-c",
      'until [ -e "$0" ]; do sleep 0.02; done; exec cat',
      join(tmpdir(), `go-${process.pid}`),
    ]);
    const cut = await program.transport.deliver(attemptFor(program, "y".repeat(200_000)), AbortSignal.timeout(300));
    expect(cut).toMatchObject({ kind: "unknown", detail: expect.stringMatching(/^its input took \d+ of \d+ bytes/) });
    expect(await program.transport.deliver(attemptFor(program, "next"), AbortSignal.timeout(100))).toMatchObject({
      kind: "held",
      hold: { reason: "busy" },
    });
    using go = aFile(join(tmpdir(), `go-${process.pid}`));
    const attempt = attemptFor(program, "whole");
    await until(
      async () => (await program.transport.deliver(attempt, AbortSignal.timeout(200))).kind === "delivered",
      "room in the input",
    );
    await until(
      () => program.printed().includes(`${attempt.message.tag}: whole\n`),
      "the next message on a line of its own",
    );
    expect(
      program
        .printed()
        .split("\n")
        .filter((line) => line.includes("whole")),
    ).toEqual([`${attempt.message.tag}: whole`]);
    expect(existsSync(go.path)).toBe(true);
  });
});

function aFile(path: string): Disposable & { readonly path: string } {
  writeFileSync(path, "");
  return { path, [Symbol.dispose]: () => rmSync(path) };
}
