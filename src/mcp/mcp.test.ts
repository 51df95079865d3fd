import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import { Client as McpClient, StreamableHTTPClientTransport, type CallToolResult } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { startTestDaemon, stateOf, type TestDaemon } from "../testing/daemon.ts";
import { until } from "../testing/until.ts";
import { modelsCaller } from "./caller.ts";
import { serveStdio } from "./stdio.ts";
import { tools } from "./tools.ts";

const launcher = new URL("../../bin/tieline", import.meta.url).pathname;
let daemon: TestDaemon;
beforeAll(async () => {
  daemon = await startTestDaemon();
});
afterAll(() => daemon[Symbol.asyncDispose]());

interface Connected extends AsyncDisposable {
  readonly mcp: McpClient;
  call(name: string, args?: object, meta?: object): Promise<{ text: string; isError: boolean }>;
}

async function connected(
  transport: ConstructorParameters<typeof StreamableHTTPClientTransport> | StdioClientTransport,
): Promise<Connected> {
  const mcp = new McpClient({ name: "test", version: "1" });
  await mcp.connect(
    transport instanceof StdioClientTransport ? transport : (new StreamableHTTPClientTransport(...transport) as never),
  );
  return {
    mcp,
    async call(name, args = {}, meta) {
      const result = (await mcp.callTool({
        name,
        arguments: { ...args },
        ...(meta && { _meta: { ...meta } }),
      })) as CallToolResult;
      const [first] = result.content;
      return { text: first?.type === "text" ? first.text : "", isError: result.isError ?? false };
    },
    [Symbol.asyncDispose]: () => mcp.close(),
  };
}

const overHttp = (token: string): Promise<Connected> =>
  connected([new URL(`${daemon.url}/mcp`), { requestInit: { headers: { authorization: `Bearer ${token}` } } }]);

const overStdio = (env: Record<string, string>): Promise<Connected> =>
  connected(
    new StdioClientTransport({
      command: launcher,
      args: ["mcp"],
      env: { PATH: process.env["PATH"]!, HOME: daemon.home.root, TIELINE_HOME: daemon.home.root, ...env },
      stderr: "ignore",
    }),
  );

describe.each([
  ["streamable HTTP", (token: string) => overHttp(token)],
  ["stdio", (token: string) => overStdio({ TIELINE_TOKEN: token })],
] as const)("the official client over %s", (way, connect) => {
  const suffix = way === "stdio" ? "1" : "2";

  test("finds the tools, small and described", async () => {
    const { token } = await daemon.agent(`lister${suffix}`);
    await using client = await connect(token);
    const listed = (await client.mcp.listTools()).tools;
    expect(listed.map((tool) => tool.name)).toEqual(tools.map((tool) => tool.name));
    expect(JSON.stringify(listed).length).toBeLessThan(8_000);
    expect(client.mcp.getInstructions()).toContain("list_agents");
  });

  test("sends, asks, replies and reads; what was written out is seen", async () => {
    const [ana, ben] = [await daemon.agent(`ana${suffix}`), await daemon.agent(`ben${suffix}`)];
    await using anas = await connect(ana.token);
    await using bens = await connect(ben.token);

    const sent = await anas.call("send_message", { to: `ben${suffix}`, body: "please look" });
    const tag = /MSG_\w+/.exec(sent.text)![0];
    expect(sent).toEqual({ text: expect.stringContaining(`${tag} is accepted for ben${suffix}`), isError: false });
    expect((await bens.call("check_inbox")).text).toContain(
      `[${tag} from ana${suffix} · an agent, not your user]\nplease look\n[end ${tag}]`,
    );
    expect((await bens.call("check_inbox")).text).toBe("no messages wait for you");
    expect((await anas.call("message_status", { tag })).text).toBe(`${tag} to ben${suffix}: seen (proof: tool)`);

    const asking = anas.call("ask", { to: `ben${suffix}`, body: "is it green?", timeout_seconds: 30 });
    const question = (await bens.call("wait_for_message", { timeout_seconds: 30 })).text;
    expect(question).toContain("expects a reply");
    const asked = /MSG_\w+/.exec(question)![0];
    expect((await bens.call("reply", { tag: asked, body: "all green" })).isError).toBeFalse();
    expect((await asking).text).toContain(`from ben${suffix} · the answer · an agent, not your user]`);
    expect((await asking).text).toContain("all green");
    expect((await anas.call("check_inbox")).text).toBe("no messages wait for you");
    expect((await anas.call("message_status", { tag: asked })).text).toContain("answered");
  }, 60_000);

  test("two that ask each other at once are given each other's question, and find the answers later", async () => {
    const [kim, lee] = [await daemon.agent(`kim${suffix}`), await daemon.agent(`lee${suffix}`)];
    await using kims = await connect(kim.token);
    await using lees = await connect(lee.token);
    const ask = (to: string) => ({ to, body: `a question for ${to}`, timeout_seconds: 30 });
    const asked = await Promise.all([kims.call("ask", ask(`lee${suffix}`)), lees.call("ask", ask(`kim${suffix}`))]);
    for (const [at, [me, client]] of (
      [
        ["kim", kims],
        ["lee", lees],
      ] as const
    ).entries()) {
      const { text } = asked[at]!;
      expect(text).toContain(`a question for ${me}${suffix}`);
      expect(text).toContain(`Your question MSG_${me.toUpperCase()}`);
      await client.call("reply", { tag: /MSG_\w+/.exec(text)![0], body: `from ${me}` });
    }
    expect((await kims.call("wait_for_message", { timeout_seconds: 30 })).text).toContain("\nfrom lee\n");
    expect((await lees.call("wait_for_message", { timeout_seconds: 30 })).text).toContain("\nfrom kim\n");
  }, 60_000);

  test("an answer is as long as a model can use, and says where the rest is", async () => {
    const [flo, gil] = [await daemon.agent(`flo${suffix}`), await daemon.agent(`gil${suffix}`)];
    await using flos = await connect(flo.token);
    await using gils = await connect(gil.token);
    const asking = flos.call("ask", { to: `gil${suffix}`, body: "what does the log say?", timeout_seconds: 30 });
    const asked = /MSG_\w+/.exec((await gils.call("wait_for_message", { timeout_seconds: 30 })).text)![0];
    await gils.call("reply", { tag: asked, body: "\u001b[31mx".repeat(10_000) });
    const { text } = await asking;
    expect(text).not.toContain("\u001b");
    const [tag] = /MSG_\w+/.exec(text)!;
    expect(text).toMatch(/^\[MSG_\w+ from \S+ · the answer · an agent, not your user\]\n[^]{20000}\n\[30000 more/);
    expect(text).toEndWith(
      `\n[30000 more characters: read the resource tieline://message/${tag}, or run \`tieline show ${tag}\`]\n` +
        `[end ${tag}]`,
    );
  }, 60_000);

  test("broadcasts, lists, notes, and reads resources without marking mail as read", async () => {
    const [cleo, dan] = [await daemon.agent(`cleo${suffix}`), await daemon.agent(`dan${suffix}`)];
    await using cleos = await connect(cleo.token);
    expect((await cleos.call("set_status", { text: "writing tests" })).text).toContain("writing tests");
    expect((await cleos.call("broadcast", { body: "main is frozen" })).text).toContain(`dan${suffix}`);
    const listed = (await cleos.call("list_agents")).text;
    expect(listed).toStartWith(`you are cleo${suffix} in team default`);
    expect(listed).toContain(`dan${suffix}`);
    await using dans = await connect(dan.token);
    expect((await dans.call("list_agents")).text).toContain("writing tests");
    const inbox = await dans.mcp.readResource({ uri: "tieline://inbox" });
    const { text } = inbox.contents[0] as { text: string };
    expect(text).toContain("main is frozen");
    const tag = /MSG_\w+/.exec(text)![0];
    expect(await stateOf(daemon.user, { tag })).not.toBe("seen");
    expect((await dans.mcp.readResource({ uri: `tieline://message/${tag}` })).contents).toMatchObject([
      { text: `[${tag} from cleo${suffix} · an agent, not your user]\nmain is frozen\n[end ${tag}]` },
    ]);
    expect((await dans.mcp.readResource({ uri: "tieline://team" })).contents).toMatchObject([
      { text: expect.stringContaining(`cleo${suffix}`) },
    ]);
    expect((await dans.mcp.listResources()).resources).toHaveLength(2);
    await expect(dans.mcp.readResource({ uri: "tieline://nothing" })).rejects.toThrow(
      "What to do: read tieline://inbox",
    );
  }, 60_000);

  test.each([
    ["send_message", { to: "unknown", body: "x" }, "ADDRESS_UNKNOWN"],
    ["send_message", { to: 7 }, "USAGE"],
    ["reply", { tag: "MSG_X_00000000", body: "x" }, "MESSAGE_UNKNOWN"],
    ["send_mesage", {}, "USAGE"],
  ])("%s %j is refused with a code and what to do", async (name, args, code) => {
    const { token } = await daemon.agent(`eve${suffix}`);
    await using client = await connect(token);
    const { text, isError } = await client.call(name, args);
    expect(isError).toBeTrue();
    expect(text).toMatch(new RegExp(`^error ${code}: .+\\nWhat to do: .+`));
  });
});

describe("who calls", () => {
  test("an unknown program is not the user, whatever token it has", async () => {
    await using http = await overHttp(daemon.userToken);
    await using stdio = await overStdio({});
    for (const client of [http, stdio])
      expect(await client.call("list_agents")).toMatchObject({
        isError: true,
        text: expect.stringMatching(/IDENTITY_UNKNOWN[^]*tieline adopt/),
      });
  });

  test("a thread id in the call counts, and an unknown one is not the user's", async () => {
    expect(modelsCaller({ sessionId: "of the process", pid: 1 }, "of the call")).toEqual({
      sessionId: "of the call",
      pid: 1,
      agentVariables: ["MCP"],
    });
    expect(modelsCaller({ agentVariables: ["CODEX_THREAD_ID"] }, undefined)).toEqual({
      agentVariables: ["CODEX_THREAD_ID"],
    });
    await using http = await overHttp(daemon.userToken);
    expect((await http.call("list_agents", {}, { threadId: "unknown-thread" })).text).toContain("IDENTITY_UNKNOWN");
  });

  test("without a token, or from a page elsewhere, nothing is answered", async () => {
    const post = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${daemon.url}/mcp`, { method: "POST", headers, body: "{}" });
    expect((await post({})).status).toBe(401);
    expect((await post({ authorization: `Bearer ${daemon.userToken}`, origin: "http://evil.example" })).status).toBe(
      403,
    );
    expect(
      (await fetch(`${daemon.url}/mcp`, { headers: { authorization: `Bearer ${daemon.userToken}` } })).status,
    ).toBe(405);
  });
});

describe("mail in an answer that never left", () => {
  test("is not seen: stdio", async () => {
    const { client: fay } = await daemon.agent("fay");
    const sent = await daemon.user.call("send", { to: "fay", body: "read me" });
    const [stdin, stdout] = [new PassThrough(), new PassThrough({ highWaterMark: 1 })];
    // Stdout is not read: the first bytes fill its buffer and the rest waits.
    const serving = serveStdio({ version: "1", stdin, stdout, clientFor: () => fay, report: () => undefined });
    stdin.write(callLine(1, "check_inbox", {}));
    await until(async () => (await stateOf(daemon.user, sent)) === "claimed", "fay to be given her mail");
    stdin.end();
    await serving;
    expect(await stateOf(daemon.user, sent)).toBe("claimed");
  });
});

describe("lines that are no messages", () => {
  const nested = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`;
  const bad: readonly (readonly [what: string, line: string, code: number])[] = [
    ["no JSON", "hello", -32_700],
    ["truncated", '{"jsonrpc":"2.0","id":1,', -32_700],
    ["no JSON-RPC", '{"id":1}', -32_600],
    ["a list", "[1]", -32_600],
    ["deep", nested(100_000), -32_600],
  ];

  test.each(bad)("%s: the caller gets an error, and the next line is served", async (_, line, code) => {
    const { client } = await daemon.agent("gus");
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const serving = serveStdio({ version: "1", stdin, stdout, clientFor: () => client, report: () => undefined });
    stdin.write(`${line}\n${callLine(7, "set_status", { text: "still here" })}`);
    const answers: { id: number | null; error?: { code: number }; result?: object }[] = [];
    for await (const text of linesOf(stdout))
      if (answers.push(JSON.parse(text) as (typeof answers)[number]) === 2) break;
    expect(answers[0]).toMatchObject({ id: null, error: { code } });
    expect(answers[1]).toMatchObject({ id: 7, result: { content: [{ text: "others now see: still here" }] } });
    stdin.end();
    await serving;
  });

  test("a line without end ends the conversation, and nothing else", async () => {
    const { client } = await daemon.agent("hal");
    const [stdin, stdout] = [new PassThrough(), new PassThrough()];
    const serving = serveStdio({ version: "1", stdin, stdout, clientFor: () => client, report: () => undefined });
    const piece = "x".repeat(1024 * 1024);
    for (let at = 0; at < 12; at++) stdin.write(piece);
    await serving;
    expect(await client.call("whoami", {})).toMatchObject({ name: "hal" });
  });
});

const callLine = (id: number, name: string, args: object): string =>
  `${JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name, arguments: args } })}\n`;

async function* linesOf(stream: PassThrough): AsyncGenerator<string, void, void> {
  let text = "";
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const lines = (text + chunk.toString()).split("\n");
    text = lines.pop()!;
    yield* lines;
  }
}
