import { expect, test } from "bun:test";
import { bunExec } from "./exec.ts";

test("input, output, errors and exit code come back whole", async () => {
  const stdin = "é\n".repeat(300_000);
  const { code, stdout, stderr } = await bunExec(["sh", "-c", "cat; echo oops >&2; exit 3"], { stdin });
  expect({ code, stderr }).toEqual({ code: 3, stderr: "oops\n" });
  expect(stdout).toBe(stdin);
});

test("the environment is exactly the given one", async () => {
  const { stdout } = await bunExec(["/usr/bin/env"], { env: { ONLY: "this" } });
  expect(stdout).toBe("ONLY=this\n");
});

test("a program that is missing or does not end is an error with a remedy", async () => {
  await expect(bunExec(["not-a-program-here"])).rejects.toMatchObject({ code: "NOT_INSTALLED" });
  await expect(bunExec(["sleep", "300"], { timeoutMs: 50 })).rejects.toMatchObject({ code: "NOT_IN_TIME" });
});
