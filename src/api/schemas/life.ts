import { z } from "zod";
import { agentStates } from "../../model/agent.ts";
import { permissionModes, sandboxes } from "../../model/profile.ts";
import { count, pollMs } from "./fields.ts";

const FoundView = z.object({
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

const DialogView = z.object({
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

const wishes = {
  task: z.string().min(1).optional().describe("names its window"),
  provider: z.string().optional(),
  model: z.string().regex(/^[^-]/, "the name of a model, which does not begin with -").optional(),
  cwd: z.string().optional(),
  prompt: z.string().optional().describe("follows the profile's own prompt"),
  skill: z.string().optional(),
  sandbox: z.enum(sandboxes).optional(),
  permissions: z.enum(permissionModes).optional(),
  args: z.array(z.string()).optional(),
};

const oneAgent = z.object({ agent: z.string() });

export const lifeSchemas = <View extends z.ZodType>(agentView: View) =>
  ({
    spawn: {
      input: z.object({
        profile: z.string(),
        name: z.string().optional(),
        resume: z.string().optional().describe("the program's own id of the conversation to continue"),
        ...wishes,
      }),
      output: agentView,
    },
    stop: { input: oneAgent, output: agentView },
    kill: { input: oneAgent, output: agentView },
    restart: { input: oneAgent, output: agentView },
    resume: {
      input: z.object({ agents: z.array(z.string()).optional().describe("without it, the whole team") }),
      output: z.object({ resumed: z.array(agentView), already: z.array(z.string()), failed: z.array(NotStarted) }),
    },
    interrupt: { input: oneAgent, output: agentView },
    /** What the agent asks now. */
    dialog: { input: oneAgent, output: DialogView },
    choose: {
      input: z.object({ agent: z.string(), choice: z.string(), mark: z.string() }),
      output: z.object({ agent: z.string(), choice: z.number().int(), label: z.string() }),
    },
    /** Agent programs that run on the caller's tmux server. */
    discover: { input: z.object({}), output: z.array(FoundView) },
    /** Where an agent, or the caller's team, is in tmux. */
    place: {
      input: z.object({ agent: z.string().optional() }),
      output: z.object({
        socket: z.string(),
        session: z.string(),
        pane: z.string().nullable(),
        current: z.string().nullable().describe("the caller's own session, if it sits on that server"),
      }),
    },
    /** Answers as soon as the pane shows something else than under this mark, or after the timeout. */
    readNext: {
      input: z.object({ agent: z.string(), lines: count.optional(), mark: z.string(), timeoutMs: pollMs }),
      output: z.object({ agent: z.string(), pane: z.string(), text: z.string(), mark: z.string() }),
    },
  }) as const;
