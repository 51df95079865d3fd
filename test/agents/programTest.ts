import { lackUnless, testUnless, type Lack } from "../../src/testing/needing.ts";
import { installAgent, type AgentProgram } from "./install.ts";

/** What real programs take on a slow machine is not known; a test that needs more says so. */
export const deadlineMs = 300_000;

export type ProgramTest = (name: string, body: () => Promise<void>, timeoutMs?: number) => void;

/**
 * How tests of a real program are declared. Where it cannot be installed, or something else is missing, they are
 * skipped and say why.
 */
export async function programTest(
  program: AgentProgram,
  otherLack: Lack = null,
  version?: string,
): Promise<ProgramTest> {
  const installed = await installAgent(program, undefined, version);
  const missing = "missing" in installed ? installed.missing : null;
  const lack =
    lackUnless(missing === null, `${program} ${installed.version} cannot be installed here: ${missing}`) ?? otherLack;
  if (lack !== null) console.error(`SKIPPED: ${lack}`);
  return (name, body, timeoutMs = deadlineMs) => testUnless(lack)(name, body, timeoutMs);
}
