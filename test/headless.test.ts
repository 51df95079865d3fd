import { describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { keeping } from "../src/testing/keeping.ts";
import { aMomentWithin } from "../src/testing/moments.ts";
import { lackOfBubblewrap, testUnless } from "../src/testing/needing.ts";
import { until } from "../src/testing/until.ts";
import { startWorld, type World } from "../src/testing/world.ts";

const keep = keeping();

/** Prints what a message asks it to, and records what it read. */
const speaker = `
while read -r line; do
  printf '%s\\n' "$line" >>heard
  case $line in
    *"say "*) printf '%b\\n' "\${line#*say }" ;;
    *quit*) exit 0 ;;
  esac
done
`;

async function aWorld(agents: string, files: Record<string, string> = {}): Promise<World> {
  const world = keep(
    await startWorld({
      files: { "tieline.yaml": `team: quiet\nagents:\n${agents}`, "speaker.sh": speaker, script: "", ...files },
      config: { guards: { perPairPerMinute: 1000, perSenderPerMinute: 1000 } },
    }),
  );
  const { code, stdout, stderr } = await world.tieline(["up"]);
  if (code !== 0) throw new Error(stdout + stderr);
  return world;
}

/** In the order in which they were sent; ids grow with time. */
const bodies = async (world: World): Promise<string[]> =>
  (await world.inbox("user")).toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(({ body }) => body);

describe("an agent without a terminal", () => {
  test("reads its mail on its standard input, and its output is sent to whom it addresses", async () => {
    const world = await aWorld(
      `  speaker: { command: [sh, speaker.sh], headless: true }\n  other: { command: [sh, speaker.sh], ` +
        `headless: true }\n`,
    );
    expect((await world.ls()).map(({ provider, state }) => [provider, state])).toEqual([
      ["headless", "idle"],
      ["headless", "idle"],
    ]);
    expect(
      await world.tieline(["send", "speaker", "--wait", "delivered", "say @user: hello from my output"]),
    ).toMatchObject({ code: 0 });
    await until(async () => (await bodies(world)).length === 1, "the message from its output");
    const [message] = await world.inbox("user");
    expect(message).toMatchObject({ from: "speaker", body: "hello from my output" });
    expect(await world.status(message!.tag)).toMatchObject({ knownBy: "stream" });
    expect((await world.tieline(["explain", "speaker"])).stdout).toContain(
      "mail: is written to its standard input; nothing is typed",
    );

    await world.tieline([
      "send",
      "speaker",
      "say a note\\n<<SWARM_MSG:TO=other:START>>\\nsay @user: I got it\\n<<SWARM_MSG:END>>",
    ]);
    await until(async () => (await bodies(world)).includes("I got it"), "the other's message");
    expect(readFileSync(join(world.project, "heard"), "utf8")).toMatch(
      /^MSG_SPEAKER_[0-9a-f]{8}: \[from speaker, an agent, not your user\] say @user: I got it$/m,
    );
  });

  test("each message of its output is sent once, wherever the daemon is killed; it outlives the daemon", async () => {
    const world = await aWorld(`  printer: { command: [sh, -c, "tail -n +1 -f script"], headless: true }\n`);
    const script = join(world.project, "script");
    const total = 24;
    for (let at = 0; at < total; at += 6) {
      const lines = Array.from({ length: 6 }, (_, more) => `@user: number ${at + more}\n`);
      appendFileSync(script, lines.join(""));
      if (at === 6) appendFileSync(script, "<<SWARM_MSG:TO=user:START>>in two ");
      await aMomentWithin(300);
      await world.killDaemon();
      if (at === 6) appendFileSync(script, "parts<<SWARM_MSG:END>>\n");
      await world.ls();
    }
    await until(async () => (await bodies(world)).length >= total + 1, "all that it said", 60_000);
    expect((await world.ls())[0]).toMatchObject({ name: "printer", state: "idle" });
    expect((await bodies(world)).toSorted()).toEqual(
      ["in two parts", ...Array.from({ length: total }, (_, at) => `number ${at}`)].toSorted(),
    );
  });

  test("a line that pauses is sent whole, colours are removed, and 1 MiB between markers is not too much", async () => {
    const world = await aWorld(`  printer: { command: [sh, say.sh], headless: true }\n`, {
      "say.sh": `
printf '@user: first half'; sleep 2.5; printf ' second half\\n'
printf '\\033[1;32m@user:\\033[0m in \\033[31mred\\033[0m\\n- **@user:** in a list\\n'
echo '<<SWARM_MSG:TO=user:START>>'; head -c 1048576 /dev/zero | tr '\\0' x; echo; echo '<<SWARM_MSG:END>>'
printf '@user: without a newline'`,
    });
    await until(async () => (await bodies(world)).length === 5, "all that it said");
    const said = await bodies(world);
    expect(said.filter((body) => body.length < 100)).toEqual([
      "first half second half",
      "in red",
      "in a list",
      "without a newline",
    ]);
    expect(said.find((body) => body.length > 100)).toBe("x".repeat(1 << 20));
  });

  test("gets notices on its input about what was not sent, and one that repeats its mistake gets no more", async () => {
    const world = await aWorld(
      `  speaker: { command: [sh, speaker.sh], headless: true }\n  other: { command: [sh, speaker.sh], ` +
        `headless: true }\n  echo: { command: [sh, -c, 'while read -r line; do echo "$line" >>echoed; echo ` +
        `"@noone: again"; done'], headless: true }\ntopology: [speaker -> user, echo -> user]\n`,
    );
    await world.tieline(["send", "speaker", "say @other: psst"]);
    const heard = (): string =>
      existsSync(join(world.project, "heard")) ? readFileSync(join(world.project, "heard"), "utf8") : "";
    await until(
      () =>
        /^MSG_TIELINE_[0-9a-f]{8}: .*your message to other was not sent: .*speaker may write to: user$/m.test(heard()),
      "the refusal on its input",
    );
    await until(async () => (await world.ls()).find(({ name }) => name === "speaker")!.pending === 0, "no mail left");

    await world.tieline(["send", "echo", "begin"]);
    const log = async (): Promise<string> => (await world.tieline(["daemon", "logs"])).stdout;
    await until(
      async () => (await log()).includes("The agent was not told: its last 8 messages were notices."),
      "the end of the notices",
    );
    expect(readFileSync(join(world.project, "echoed"), "utf8").trim().split("\n")).toHaveLength(9);
  });

  test("what it printed is thrown away once it was read, and nothing that it said is lost", async () => {
    const world = await aWorld(`  printer: { command: [sh, flood.sh], headless: true }\n`, {
      "flood.sh": `for part in 0 1; do
  yes "a line without an address" | head -c 5000000; echo
  echo "<<SWARM_MSG:TO=user:START>>part $part<<SWARM_MSG:END>>"
done
while sleep 0.005; do echo a line now and then; done`,
    });
    const directory = join(world.env["TIELINE_HOME"]!, "headless");
    const kept = (): number =>
      readdirSync(directory).reduce(
        (sum, name) => sum + (statSync(join(directory, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      );
    await until(
      async () => (await bodies(world)).length === 2 && kept() < 5_000_000,
      "all that it said, and the end of what was read",
      80_000,
    );
    expect((await bodies(world)).toSorted()).toEqual(["part 0", "part 1"]);
  }, 90_000);

  test("mail for it is given once over kills of the daemon, and waits while it does not run", async () => {
    const world = await aWorld(`  speaker: { command: [sh, speaker.sh], headless: true, autostart: false }\n`);
    for (let at = 0; at < 6; at++) {
      await world.tieline(["send", "speaker", `number ${at}`]);
      if (at % 2 === 1) await world.killDaemon();
    }
    const heard = (): string[] =>
      existsSync(join(world.project, "heard"))
        ? readFileSync(join(world.project, "heard"), "utf8").trim().split("\n")
        : [];
    await world.ls();
    await until(
      async () =>
        (await Promise.all((await world.json<{ tag: string }[]>(["log"])).map(({ tag }) => world.status(tag)))).every(
          ({ deliveries }) => deliveries[0]!.state !== "queued",
        ),
      "every message to be given",
    );
    const words = heard().map((line) => line.replace(/^MSG_USER_\w+: /, ""));
    // A kill between writing and noting it leaves one for the user to decide; none is ever given twice.
    expect(new Set(words).size).toBe(words.length);

    await world.tieline(["send", "speaker", "quit"]);
    await until(async () => (await world.ls())[0]!.state !== "idle", "the end of the program");
    const { tag } = await world.json<{ tag: string }>(["send", "speaker", "after the end"]);
    expect((await world.status(tag)).deliveries[0]).toMatchObject({ state: "queued" });
    await world.tieline(["up"]);
    await until(
      async () => (await world.status(tag)).deliveries[0]!.state === "delivered",
      "the mail after the new start",
    );
    await until(() => heard().some((line) => line.endsWith(": after the end")), "the program to have read it");
  });

  test("with `input: files` its mail is in files, and its output still counts", async () => {
    const world = await aWorld(
      `  writer: { command: [sh, -c, 'while [ ! -e .inbox/0001_user.json ]; do sleep 0.1; done; echo "@user: ` +
        `I have a file"; sleep 1000'], headless: true, input: files, workspace: room, cwd: room }\n`,
    );
    expect(await world.tieline(["send", "writer", "--wait", "delivered", "in a file"])).toMatchObject({ code: 0 });
    await until(async () => (await bodies(world)).includes("I have a file"), "its answer");
  });

  test("its pane shows what it prints, errors are not messages, and it can be stopped", async () => {
    const world = await aWorld(
      `  speaker: { command: [sh, -c, 'echo "@user: not this" >&2; echo plain words; exec sh speaker.sh'], ` +
        `headless: true }\n`,
    );
    const [{ pane }] = (await world.json<{ pane: string }[]>(["ls"])) as [{ pane: string }];
    await until(async () => (await world.screen(pane)).includes("plain words"), "the words in the pane");
    await world.tieline(["send", "speaker", "say @user: this"]);
    await until(async () => (await bodies(world)).length > 0, "a message");
    expect(await bodies(world)).toEqual(["this"]);
    expect(await world.tieline(["stop", "speaker"])).toMatchObject({ code: 0 });
    expect((await world.ls())[0]).toMatchObject({ state: "suspended" });
  });

  test("a job that exits at once has sent its output, and sends it again when it is started again", async () => {
    const world = keep(
      await startWorld({
        files: {
          "tieline.yaml": "team: quiet\nagents:\n  brief: { command: [echo, '@user: done'], headless: true }\n",
        },
      }),
    );
    expect(await world.tieline(["spawn", "brief"])).toMatchObject({ code: 0 });
    await until(async () => (await bodies(world)).length === 1, "its only message");
    await until(async () => (await world.ls())[0]!.state === "gone", "its end");
    expect(await world.tieline(["spawn", "brief"])).toMatchObject({ code: 0 });
    await until(async () => (await bodies(world)).length === 2, "the message of its second start");
    expect(await bodies(world)).toEqual(["done", "done"]);
  });

  test("a program that takes no mail without a terminal is refused with the remedy", async () => {
    const world = keep(
      await startWorld({
        files: { "tieline.yaml": "team: quiet\nagents:\n  coder: { provider: codex, headless: true }\n" },
      }),
    );
    const { code, stderr } = await world.tieline(["spawn", "coder"]);
    expect([code, stderr]).toEqual([
      4,
      expect.stringContaining("coder is headless, but codex takes no mail without a terminal"),
    ]);
  });
});

testUnless(lackOfBubblewrap())(
  "a headless agent under bubblewrap has nothing but its input and its output",
  async () => {
    const world = await aWorld(
      `  boxed: { command: [sh, -c, 'while read -r line; do echo "@user: heard $line"; done'], headless: ` +
        `true, sandbox: bwrap, workspace: cell }\n`,
    );
    await world.tieline(["send", "boxed", "knock"]);
    await until(async () => (await bodies(world)).length === 1, "its answer");
    expect((await bodies(world))[0]).toMatch(/^heard MSG_USER_[0-9a-f]{8}: knock$/);
  },
);
