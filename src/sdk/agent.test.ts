import { expect, test } from "bun:test";
import { startTestDaemon } from "../testing/daemon.ts";

const sdk = new URL("./connect.ts", import.meta.url).pathname;

test("an object whose code fails: a program that does not look at it ends with the failure", async () => {
  await using daemon = await startTestDaemon();
  const program = `
    import { connect } from ${JSON.stringify(sdk)};
    const me = await connect();
    await me.registerObject({ name: "clumsy", onMessage() { throw new Error("it fell") } });
    await me.send("clumsy", "catch");
  `;
  const env = { PATH: process.env["PATH"]!, HOME: process.env["HOME"]!, TIELINE_HOME: daemon.home.root };
  const child = Bun.spawn([process.execPath, "-e", program], { env, stdout: "pipe", stderr: "pipe" });
  const [code, stderr] = await Promise.all([child.exited, new Response(child.stderr).text()]);
  expect(code).not.toBe(0);
  expect(stderr).toContain("it fell");
}, 120_000);
