import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TielineError } from "../../model/errors.ts";
import { commandLineWithDaemon } from "../../testing/commandLineWithDaemon.ts";
import { acceptedAt, delivery, delivered, receipt, history } from "./views.fixture.ts";

const tieline = commandLineWithDaemon({ send: ({ to }) => receipt({ to }), reply: () => receipt() });

const sent = () => tieline.daemon.calls.map(({ input }) => input);

describe("what is sent", () => {
  const forms: [string, string[], object][] = [
    ["words", ["send", "engineer", "please", "look"], { to: "engineer", body: "please look" }],
    ["--to", ["send", "please", "look", "--to", "engineer"], { to: "engineer", body: "please look" }],
    [
      "one quoted message and --to",
      ["send", "please look", "--to", "engineer"],
      { to: "engineer", body: "please look" },
    ],
    ["text after --", ["send", "engineer", "--", "-x", "--wait"], { to: "engineer", body: "-x --wait" }],
    ["a lone dash after --", ["send", "engineer", "--", "-"], { to: "engineer", body: "-" }],
    ["spaces and quotes", ["send", "engineer", '  a\t"b" $(c) `d` \\ ;'], { body: '  a\t"b" $(c) `d` \\ ;' }],
    [
      "everything else",
      [
        "send",
        "engineer",
        "x",
        "--when",
        "interrupt",
        "--hard",
        "--ttl",
        "2m",
        "--key",
        "k1",
        "--from",
        "tick",
        "--reply-to",
        "MSG_A_00000000",
        "--expect-reply",
        "--spawn",
      ],
      {
        when: "interrupt",
        hard: true,
        ttlMs: 120_000,
        key: "k1",
        from: "tick",
        replyTo: "MSG_A_00000000",
        expectsReply: true,
        spawn: true,
      },
    ],
    ["a broadcast", ["broadcast", "please", "rebase"], { to: "@all", body: "please rebase" }],
    ["a broadcast to a team", ["broadcast", "--team", "web", "x", "--spawn"], { to: "@web", spawn: true }],
    ["a broadcast to all", ["broadcast", "--all", "x"], { to: "*" }],
    ["a reply", ["reply", "MSG_USER_7f3a91c2", "fixed", "it"], { tag: "MSG_USER_7f3a91c2", body: "fixed it" }],
  ];
  test.each(forms)("%s", async (_name, args, input) => {
    expect(await tieline.run(args)).toMatchObject({ code: 0, stderr: "" });
    expect(sent()).toMatchObject([input]);
  });

  test("every send has a key of its own", async () => {
    await tieline.run(["send", "engineer", "x"]);
    await tieline.run(["send", "engineer", "x"]);
    const [first, second] = sent().map(({ key }) => key);
    expect(first).toBeString();
    expect(first).not.toBe(second as string);
  });

  test("a file and stdin, byte for byte", async () => {
    const text = "\uFEFFline\r\n\n  tab\t日本語 🙂 ; -\n";
    writeFileSync(join(tieline.dir, "notes.md"), text);
    await tieline.run(["send", "engineer", "-f", "notes.md"]);
    await tieline.run(["send", "engineer", "-"], { stdin: text });
    await tieline.run(["send", "engineer", "-f", "-"], { stdin: text });
    await tieline.run(["send", "--to", "engineer", "-"], { stdin: text });
    await tieline.run(["send", "engineer", "-f", "/dev/stdin"], { stdin: text });
    expect(sent().map(({ body }) => body)).toEqual([text, text, text, text, text]);
  });

  test("a device is a file like any other", async () => {
    await tieline.run(["send", "engineer", "-f", "/dev/null"]);
    expect(sent().map(({ body }) => body)).toEqual([""]);
  });

  test("a body of one mebibyte", async () => {
    const text = "x".repeat(1024 * 1024);
    expect(await tieline.run(["send", "engineer", "-"], { stdin: text })).toMatchObject({ code: 0 });
    expect(sent()[0]!["body"]).toBe(text);
  });
});

describe("what is refused before anything is sent", () => {
  const refusals: [string, string[], string | Uint8Array<ArrayBuffer>, RegExp][] = [
    ["no recipient", ["send"], "", /^error USAGE: <to> is missing\n {2}usage: tieline send/],
    ["no text", ["send", "engineer"], "", /^error BODY_EMPTY: /],
    [
      "bad UTF-8",
      ["send", "engineer", "-"],
      new Uint8Array([0x61, 0xff, 0x62]),
      /^error BODY_NOT_TEXT: stdin is not valid UTF-8/,
    ],
    ["too much", ["send", "engineer", "-"], "x".repeat(1024 * 1024 + 1), /^error BODY_TOO_LONG: /],
    ["no such file", ["send", "engineer", "-f", "missing.md"], "", /^error USAGE: cannot read missing.md/],
    ["text twice", ["send", "engineer", "hi", "-"], "there", /^error USAGE: the text is given twice/],
    [
      "an unknown flag",
      ["send", "engineer", "hi", "--wiat", "seen"],
      "",
      /^error USAGE: unknown flag --wiat; did you mean "--wait"\?/,
    ],
  ];
  test.each(refusals)("%s", async (_name, args, stdin, message) => {
    const { code, stdout, stderr } = await tieline.run(args, { stdin });
    expect(stderr).toMatch(message);
    expect({ code, stdout, calls: tieline.daemon.calls.length }).toEqual({ code: 2, stdout: "", calls: 0 });
  });
});

describe("what is printed", () => {
  test("for people: how far it is, and why", async () => {
    tieline.daemon.answers.send = () =>
      receipt({
        deliveries: [delivery({ reason: "a permission dialog is open in %14", updatedAt: Date.now() - 12_000 })],
      });
    const { stdout } = await tieline.run(["send", "engineer", "x"]);
    expect(stdout).toMatch(
      /^· MSG_USER_7f3a91c2 → engineer {3}queued: a permission dialog is open in %14 \(for 1\d s\)\n$/,
    );
  });

  test("prints the proof of each delivery", async () => {
    tieline.daemon.answers.send = () => receipt({ deliveries: [delivered()], notice: "interrupt became tool" });
    const { stdout } = await tieline.run(["send", "engineer", "x"]);
    expect(stdout).toBe(
      "✓ MSG_USER_7f3a91c2 → engineer   delivered after 0.3 s   (tmux, delivered: screen, as user)\n" +
        "  interrupt became tool\n",
    );
  });

  test("for scripts: one object with the promised names", async () => {
    const { stdout } = await tieline.run(["send", "engineer", "x", "--json"]);
    const value = JSON.parse(stdout);
    expect(value).toMatchObject({
      tag: "MSG_USER_7f3a91c2",
      from: "user",
      to: "engineer",
      acceptedAt: new Date(acceptedAt).toISOString(),
    });
    expect(Object.keys(value)).toContainValues(["id", "tag", "from", "to", "deliveries"]);
    expect(Object.keys(value.deliveries[0])).toContainValues([
      "agent",
      "state",
      "proof",
      "transport",
      "authority",
      "reason",
      "attempts",
    ]);
  });

  test("an error of the daemon: on stderr for people, as an object for scripts", async () => {
    tieline.daemon.answers.send = () => {
      throw new TielineError("ADDRESS_UNKNOWN", 'no agent "enginer" in team default; did you mean "engineer"?', {
        remedy: "`tieline ls` lists them",
      });
    };
    expect(await tieline.run(["send", "enginer", "x"])).toEqual({
      code: 3,
      stdout: "",
      stderr:
        'error ADDRESS_UNKNOWN: no agent "enginer" in team default; did you mean "engineer"?\n' +
        "  `tieline ls` lists them\n",
    });
    const { code, stdout, stderr } = await tieline.run(["send", "enginer", "x", "--json"]);
    expect(JSON.parse(stdout)).toMatchObject({
      error: {
        code: "ADDRESS_UNKNOWN",
        message: expect.stringContaining("did you mean"),
        remedy: "`tieline ls` lists them",
      },
    });
    expect({ code, stderr }).toEqual({ code: 3, stderr: "" });
  });

  test.each([
    ["some", ["ana"], 6],
    ["all", [], 3],
  ])("a broadcast that %s were refused", async (_name, successful, expected) => {
    const failed = [{ agent: "bob", code: "ROUTE_DENIED", message: "no edge from user to bob" }];
    tieline.daemon.answers.send = () =>
      receipt({ to: "@all", deliveries: successful.map((name) => delivery({ agent: name })), successful, failed });
    const { code, stdout } = await tieline.run(["broadcast", "x"]);
    expect(code).toBe(expected);
    expect(stdout).toContain("✗ bob   refused, ROUTE_DENIED: no edge from user to bob\n");
  });
});

describe("--wait", () => {
  /** Each poll gets the next state, as a daemon would tell of a change. */
  function unfolding(...states: ReturnType<typeof delivery>[]): void {
    const left = [...states];
    tieline.daemon.answers.wait = () => history({ deliveries: [left.length > 1 ? left.shift()! : left[0]!] });
  }

  test("shows each change on a line of its own and ends when it is there", async () => {
    const held = delivery({ reason: "busy", updatedAt: acceptedAt + 1 });
    const seen = {
      ...delivered(),
      state: "seen" as const,
      proof: "transcript",
      stateAt: acceptedAt + 400,
      updatedAt: acceptedAt + 400,
    };
    unfolding(held, delivered(), seen);
    const { code, stdout } = await tieline.run(["send", "engineer", "x", "--wait", "seen"]);
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split("   ")[1]?.split(/,| \(/)[0]),
    ).toEqual(["queued", "queued: busy", "delivered after 0.3 s", "seen after 0.4 s"]);
    expect(sent()[0]).toMatchObject({ wait: "seen" });
    expect(sent()[1]).toMatchObject({ tag: "MSG_USER_7f3a91c2", state: "seen", after: acceptedAt });
  });

  test("delivered, but the model's API failed: exit 4 at once, with the reason and no tick", async () => {
    const warning =
      "the model's API failed: 529 overloaded; the text is in the conversation and goes with the next prompt";
    unfolding({ ...delivered(), warning, updatedAt: acceptedAt + 60_000 });
    const people = await tieline.run(["send", "engineer", "x", "--wait", "seen"]);
    expect(people.code).toBe(4);
    expect(people.stdout.trimEnd().split("\n").at(-1)).toMatch(
      /^! MSG_USER_7f3a91c2 → engineer {3}delivered after 0\.3 s .*warning: the model's API failed: 529/,
    );
    expect(people.stderr).toContain(
      `error NOT_READ: MSG_USER_7f3a91c2 was delivered to engineer, but not read: ${warning}`,
    );
    unfolding({ ...delivered(), warning });
    expect((await tieline.run(["send", "engineer", "x", "--wait", "delivered"])).code).toBe(0);
  });

  test("with --json prints one object at the end", async () => {
    unfolding(delivered());
    const { code, stdout } = await tieline.run(["send", "engineer", "x", "--wait", "delivered", "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      id: receipt().id,
      deliveries: [{ state: "delivered", proof: "screen" }],
    });
  });

  test("not in time: exit 4, with the state it is in and why", async () => {
    unfolding(delivery({ reason: "the composer of %14 has a draft", updatedAt: acceptedAt + 1 }));
    const people = await tieline.run(["send", "engineer", "x", "--wait", "delivered", "--timeout", "200ms"]);
    expect(people.code).toBe(4);
    const late = /^error NOT_IN_TIME: MSG_USER_7f3a91c2 to engineer is queued, not delivered, after .*: (.*)\n {2}(.*)/;
    expect(late.exec(people.stderr)!.slice(1)).toEqual([
      "the composer of %14 has a draft",
      expect.stringMatching(/^`tieline status/),
    ]);
    const scripts = await tieline.run(["send", "engineer", "x", "--wait", "delivered", "--timeout", "200ms", "--json"]);
    expect(scripts.code).toBe(4);
    expect(JSON.parse(scripts.stdout)).toMatchObject({
      tag: "MSG_USER_7f3a91c2",
      deliveries: [{ state: "queued" }],
      error: { code: "NOT_IN_TIME" },
    });
  });

  test.each([
    ["failed", "DELIVERY_FAILED"],
    ["expired", "EXPIRED"],
    ["cancelled", "DELIVERY_FAILED"],
  ] as const)("%s ends the wait at once", async (state, code) => {
    unfolding(delivery({ state, reason: "the agent was removed", updatedAt: acceptedAt + 1 }));
    const result = await tieline.run(["send", "engineer", "x", "--wait", "answered"]);
    expect(result.code).toBe(4);
    expect(result.stderr).toStartWith(`error ${code}: `);
  });

  test("a proof that can never come is refused by the daemon", async () => {
    tieline.daemon.answers.send = () => {
      throw new TielineError("PROOF_UNAVAILABLE", "engineer cannot prove seen", { remedy: "wait for delivered" });
    };
    expect((await tieline.run(["send", "engineer", "x", "--wait", "seen"])).code).toBe(4);
  });

  test("on a terminal the line changes in place", async () => {
    unfolding(delivered());
    const { code, stdout } = await tieline.runOnTerminal(["send", "engineer", "x", "--wait", "delivered"], {
      env: { NO_COLOR: "1" },
    });
    expect(code).toBe(0);
    expect(stdout).toContain("\u001b[1A\r\u001b[2K✓ MSG_USER_7f3a91c2 → engineer   delivered");
  });
});
