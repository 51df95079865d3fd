/** What can be learnt and done at the loopback port without a token. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describeUnless } from "../../src/testing/needing.ts";
import { registerReader } from "../../src/testing/reader.ts";
import {
  callerHeaders,
  curl,
  intruders,
  secret,
  session,
  startPortWorld,
  type CurlAnswer,
  type Intruder,
  type PortWorld,
} from "./portWorld.ts";

let port: PortWorld;
beforeAll(async () => {
  port = await startPortWorld();
});
afterAll(() => port[Symbol.asyncDispose]());

const at = (path: string): string => `http://127.0.0.1:${port.port}${path}`;

/** Ana's mail waits, its session is its own, and nothing was sent in its name. */
async function expectUntouched(): Promise<void> {
  const [delivery] = (await port.user.call("status", { tag: port.waiting })).deliveries;
  expect(delivery).toMatchObject({ agent: "ana", state: "queued" });
  expect((await port.user.call("ls", {})).map(({ name, sessionId }) => [name, sessionId])).toContainEqual([
    "ana",
    session,
  ]);
  expect((await port.user.call("log", {})).map(({ from, tag }) => [from, tag])).toEqual([["user", port.waiting]]);
}

function expectNothingIn({ body }: CurlAnswer): void {
  for (const word of [secret, port.home.root, `${port.daemonPid}`, "ana", port.token]) expect(body).not.toContain(word);
}

const badTokens: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "no token": {},
  "any token": { authorization: "Bearer x", "x-tieline-token": "x" },
  "an empty token": { authorization: "Bearer ", "x-tieline-token": "" },
  "another scheme": { authorization: "Basic dXNlcjp4" },
};

/** Paths, and bodies where they take one. */
const closedPlaces: [string, string][] = [
  ...["/v1/daemonStatus", "/metrics", "/v1/openapi.json", "/v1/ls", "/v1/events", "/v1/pane?agent=ana"].map(
    (path): [string, string] => [path, ""],
  ),
  ["/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`],
  ["/mcp", "not JSON"],
  ["/v1/collected", "not JSON"],
];

for (const { name, lack, enter } of intruders) {
  describeUnless(lack())(name, () => {
    let intruder: Intruder;
    beforeEach(() => {
      intruder = enter(port.world);
    });
    afterEach(() => intruder[Symbol.asyncDispose]());

    describe.each(Object.entries(badTokens))("with %s", (_, headers) => {
      test("calls no hook: not as the process, the pane or the session that it saw", async () => {
        const { pid, pane, tmuxSocket } = port.ana;
        // Opening this would block for ever.
        const fifo = join(port.world.dir, "fifo");
        Bun.spawnSync(["mkfifo", "-m", "666", fifo]);
        const payload = {
          hook_event_name: "PreToolUse",
          session_id: session,
          transcript_path: fifo,
          tool_name: "Bash",
          tool_input: {},
          tool_use_id: "t",
        };
        const send = { ...payload, tool_name: "SendMessage", tool_input: { to: "user", message: "forged" } };
        const claims = callerHeaders({ pid, pane, tmuxSocket, sessionId: session });
        for (const one of [payload, { ...payload, session_id: "evil", hook_event_name: "PostToolUse" }, send]) {
          const body = JSON.stringify({ provider: "claude-code", pid, pane, tmuxSocket, payload: one, call: "1" });
          const answers = [
            await curl(intruder, at("/v1/hook"), { headers: { ...headers, ...claims }, body }),
            await curl(intruder, at("/hooks/claude-code"), { headers, body: JSON.stringify(one) }),
            await curl(intruder, at("/v1/hookWritten"), { headers, body: `{"receipt":"x"}` }),
          ];
          for (const answer of answers) {
            expect([400, 401]).toContain(answer.status);
            expectNothingIn(answer);
          }
        }
        await expectUntouched();
      });

      test("reads nothing and does nothing under the names that it saw", async () => {
        const { pid, pane, tmuxSocket } = port.ana;
        const claims = callerHeaders({ pid, pane, tmuxSocket, sessionId: session, userToken: "", token: "" });
        const calls = [
          ["/v1/whoami"],
          ["/v1/inbox", "{}"],
          ["/v1/collect", "{}"],
          ["/v1/send", `{"to":"user","body":"forged"}`],
          ["/v1/daemonStop", "{}"],
        ] as const;
        for (const [path, body] of calls) {
          const answer = await curl(intruder, at(path), {
            headers: { ...headers, ...claims },
            ...(body !== undefined && { body }),
          });
          expect(answer.status).toBe(401);
          expectNothingIn(answer);
        }
        await expectUntouched();
      });

      test.each(closedPlaces)("learns nothing from %s %s", async (path, body) => {
        const accepted = { accept: "application/json, text/event-stream", "content-type": "application/json" };
        const answer = await curl(intruder, at(path), {
          headers: { ...accepted, ...headers },
          ...(body !== "" && { body }),
        });
        expect(answer.status).toBe(401);
        expect(answer.body).toContain("IDENTITY_UNKNOWN");
        expect(answer.body.length).toBeLessThan(1_000);
        expect(answer.body).not.toMatch(/JSON|send_message|openapi|tieline_/);
        expectNothingIn(answer);
      });
    });

    test("the socket, the spool and the token are out of reach", async () => {
      const { root, socket, userToken } = port.home;
      for (const path of [userToken, join(root, "hooks", "mail"), join(root, "hooks", "spool")])
        expect((await intruder.run(["ls", "-l", path])).code).not.toBe(0);
      expect(
        (await intruder.run(["curl", "-s", "-m", "5", "--unix-socket", socket, "http://tieline/v1/daemonStatus"]))
          .stdout,
      ).toBe("");
    });
  });
}

describe("with the token of an agent", () => {
  test("a caller is that agent, whatever process, pane or session it names", async () => {
    const { token } = await registerReader("eve", port.world.env);
    const { pid, pane, tmuxSocket } = port.ana;
    const claims = callerHeaders({ pid, pane, tmuxSocket, sessionId: session, userToken: port.token });
    const headers = { authorization: `Bearer ${token}`, ...claims };
    expect(await (await fetch(at("/v1/whoami"), { headers })).json()).toMatchObject({ name: "eve", knownBy: "token" });
    // A thread id in a call of MCP says nothing on the port either.
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: { name: "list_agents", arguments: {}, _meta: { threadId: session } },
    };
    const accept = { accept: "application/json, text/event-stream", "content-type": "application/json" };
    const mcp = (bearer: string): Promise<string> =>
      fetch(at("/mcp"), {
        method: "POST",
        headers: { ...accept, ...claims, authorization: `Bearer ${bearer}` },
        body: JSON.stringify(call),
      }).then((answer) => answer.text());
    expect(await mcp(token)).toContain("you are eve");
    expect(await mcp(port.token)).toContain("IDENTITY_UNKNOWN");
    expect((await port.user.call("status", { tag: port.waiting })).deliveries[0]).toMatchObject({ state: "queued" });
    await port.user.call("rm", { agent: "eve", force: true });
  });

  test("hooks are not there, not even for the user", async () => {
    for (const path of ["/v1/hook", "/v1/hookWritten"]) {
      const answer = await fetch(at(path), {
        method: "POST",
        headers: { authorization: `Bearer ${port.token}` },
        body: `{"call":"1"}`,
      });
      expect([answer.status, await answer.json()]).toMatchObject([
        400,
        { code: "USAGE", detail: `there is nothing at ${path}` },
      ]);
    }
  });
});

test("settings of agent programs hold no token and no port", async () => {
  await port.world.json(["setup", "--hooks", "claude"]);
  const settings = readFileSync(join(port.world.dir, ".claude", "settings.json"), "utf8");
  for (const word of [port.token, String(port.port), "127.0.0.1", "TOKEN", "http"])
    expect(settings).not.toContain(word);
});
