import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { codex } from "./index.ts";
import { keeperPath } from "./launch.ts";
import { codexServerEndpoint } from "./threads.ts";

const directory = mkdtempSync(join(tmpdir(), "tl-keeper-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const companionAt = (socket: string, shared = false): number | null | undefined =>
  codex.companionOf!({ endpoints: [codexServerEndpoint({ socket, hooks: false, ...(shared && { shared }) })] });

describe("the keeper of a Codex server", () => {
  test("is the process whose pid is in its file", () => {
    const socket = join(directory, "own.sock");
    expect(companionAt(socket)).toBeNull();
    writeFileSync(keeperPath(socket), "4711\n");
    expect(companionAt(socket)).toBe(4_711);
  });

  test("is unknown when the file is a FIFO, which blocks nothing, or too long", () => {
    const fifo = join(directory, "fifo.sock");
    expect(Bun.spawnSync(["mkfifo", keeperPath(fifo)]).exitCode).toBe(0);
    expect(companionAt(fifo)).toBeNull();
    const long = join(directory, "long.sock");
    writeFileSync(keeperPath(long), "1".repeat(33));
    expect(companionAt(long)).toBeNull();
  });

  test("does not exist for a server that Tieline did not start", () => {
    const socket = join(directory, "shared.sock");
    writeFileSync(keeperPath(socket), "4711\n");
    expect(companionAt(socket, true)).toBeNull();
  });
});
