import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { anAgent } from "../../testing/agents.ts";
import { piExtensionEndpoint, PiSessions } from "./sessions.ts";

test(
  "a socket that says what no pi would say is reported once, however often it is tried; one that is not there " +
    "is not",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "tl-pi-"));
    const socket = join(folder, "pi.sock");
    const reported: string[] = [];
    const tried = Promise.withResolvers<void>();
    let tries = 0;
    const server = createServer((client) => {
      if (++tries > 3) tried.resolve();
      client.on("error", () => undefined).write("hello\n");
    });
    await using sessions = new PiSessions({
      retryMs: 1,
      report: (context, fault) => reported.push(`${context}: ${(fault as Error).name}`),
    });
    const agent = anAgent({ name: "ana", provider: "pi", endpoints: [piExtensionEndpoint({ socket })] });
    using watch = sessions.watch(agent, () => undefined);
    await expect(sessions.ask(agent)).rejects.toThrow(/pi does not answer at .* \(connect\)/);
    expect(reported).toEqual([]);
    await new Promise<void>((resolve) => server.listen(socket, resolve));
    await tried.promise;
    expect(reported).toEqual([`the pi at ${socket}: SyntaxError`]);
    expect(sessions.reportedState(agent)).toBeNull();
    watch[Symbol.dispose]();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  },
);
