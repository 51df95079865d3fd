import { z } from "zod";
import { agentStates } from "../../model/agent.ts";
import { permissionModes, sandboxes } from "../../model/profile.ts";
import { agentAddress, modelName } from "./fields.ts";

export const FoundView = z.object({
  pane: z.string(),
  session: z.string(),
  window: z.string(),
  provider: z.string(),
  program: z.string(),
  pid: z.number().int(),
  cwd: z.string(),
  name: z.string().describe("what it is called when it is adopted"),
  foundBy: z.array(z.string()),
  sessionId: z.string().nullable(),
  agent: z.string().nullable().describe("the agent that it is already"),
  endpoints: z.array(z.object({ transport: z.string(), bestProof: z.string(), authority: z.string() })),
});
export type FoundView = z.infer<typeof FoundView>;

export const DialogView = z.object({
  agent: z.string(),
  pane: z.string().nullable(),
  state: z.enum(agentStates),
  text: z.string(),
  choices: z.array(z.object({ choice: z.number().int(), label: z.string() })),
  mark: z.string().describe("names this dialog; an answer to another one is refused"),
});
export type DialogView = z.infer<typeof DialogView>;

/** An agent that was to be started or adopted, and why it was not. */
export const NotStarted = z.object({
  ...{ agent: z.string(), code: z.string(), message: z.string(), remedy: z.string() },
  output: z.array(z.string()).optional().describe("the last lines of a program that exited at once"),
});
export type NotStarted = z.infer<typeof NotStarted>;

export const wishes = {
  task: z.string().min(1).optional().describe("names its window, such as wish-42; default: its role"),
  provider: z.string().optional().describe("another agent program than the profile's"),
  model: modelName.regex(/^[^-]/, "the name of a model, which does not begin with -").optional(),
  cwd: z.string().optional().describe("working directory; default: the profile's, else the caller's"),
  prompt: z.string().optional().describe("added to the profile's prompt"),
  skill: z.string().optional().describe("a skill to start with"),
  sandbox: z.enum(sandboxes).optional().describe("the sandbox; default: the profile's"),
  permissions: z.enum(permissionModes).optional().describe("how the program asks before it acts; default: ask"),
  args: z.array(z.string()).optional().describe("more arguments for the program"),
};

export const oneAgent = z.object({ agent: agentAddress });
