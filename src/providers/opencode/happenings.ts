/** What one opencode does, put together from what its server says when asked and from the events that follow. */
import type { ReportedState } from "../../agents/status/reportedState.ts";
import type { OpencodeEvent, OpencodeServer } from "./server.ts";

interface Status {
  readonly type: "idle" | "busy" | "retry";
  /** Why it tries again. */
  readonly message?: string;
}

interface Session {
  readonly id: string;
  /** Set for the conversation of a subagent. */
  readonly parentID?: string;
}

interface Request {
  readonly id: string;
}

export class Happenings {
  /** The conversation with the user: where something was last said to the program. */
  current: string | null = null;
  private statuses = new Map<string, Status>();
  private permissions = new Set<string>();
  private questions = new Set<string>();
  private readonly isMain = new Map<string, boolean>();

  constructor(
    private readonly server: OpencodeServer,
    private readonly changed: () => void,
  ) {}

  reportedState(session: string | null): ReportedState {
    // A dialog of a subagent is on the same screen.
    if (this.permissions.size > 0) return { state: "permission", reason: null };
    if (this.questions.size > 0) return { state: "question", reason: null };
    const status = this.statuses.get(this.current ?? session ?? "");
    if (status === undefined || status.type === "idle") return { state: "idle", reason: null };
    return { state: "working", reason: status.type === "retry" ? (status.message ?? "it tries again") : null };
  }

  retrying(session: string | null): string | null {
    const status = this.statuses.get(this.current ?? session ?? "");
    return status?.type === "retry" ? (status.message ?? "it does not say why") : null;
  }

  began(session: string): void {
    this.current = session;
    this.isMain.set(session, true);
    this.statuses.set(session, { type: "busy" });
    this.changed();
  }

  /** Asks for all that events tell only once. */
  async learn(signal: AbortSignal): Promise<void> {
    const get = <Result>(path: string): Promise<Result> => this.server.request<Result>("GET", path, { signal });
    const [statuses, permissions, questions] = await Promise.all([
      get<Record<string, Status>>("/session/status"),
      get<Request[]>("/permission"),
      get<Request[]>("/question"),
    ]);
    this.statuses = new Map(Object.entries(statuses));
    this.permissions = new Set(permissions.map(({ id }) => id));
    this.questions = new Set(questions.map(({ id }) => id));
  }

  async hear({ type, properties }: OpencodeEvent, signal: AbortSignal): Promise<void> {
    if (!(await this.note(type, properties, signal))) return;
    this.changed();
  }

  /** Whether it says anything about the agent's state or about its mail. */
  private async note(type: string, properties: OpencodeEvent["properties"], signal: AbortSignal): Promise<boolean> {
    const session = String(properties["sessionID"]);
    switch (type) {
      case "session.status":
        this.statuses.set(session, properties["status"] as Status);
        return true;
      case "session.created":
        this.remember(properties["info"] as Session);
        return false;
      case "session.error":
        // A prompt that failed before its turn began changes no status.
        await this.learn(signal);
        return true;
      case "permission.asked":
        this.permissions.add(String(properties["id"]));
        return true;
      case "permission.replied":
        return this.permissions.delete(String(properties["requestID"]));
      case "question.asked":
        this.questions.add(String(properties["id"]));
        return true;
      case "question.replied":
      case "question.rejected":
        return this.questions.delete(String(properties["requestID"]));
      case "message.updated":
        return this.noteSpeaker(session, properties["info"] as { readonly role: string }, signal);
      case "message.part.updated":
        // The model begins to answer, so it has read what is above.
        return (properties["part"] as { readonly type: string }).type === "step-start";
      default:
        return false;
    }
  }

  private async noteSpeaker(
    session: string,
    { role }: { readonly role: string },
    signal: AbortSignal,
  ): Promise<boolean> {
    if (role !== "user" || session === this.current) return false;
    if (!this.isMain.has(session))
      this.remember(await this.server.request<Session>("GET", `/session/${session}`, { signal }));
    if (!this.isMain.get(session)) return false;
    this.current = session;
    return true;
  }

  private remember({ id, parentID }: Session): void {
    this.isMain.set(id, parentID === undefined);
  }
}
