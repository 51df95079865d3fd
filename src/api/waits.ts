/** Which agents wait for whose answers at this moment. */
import type { AgentId, MessageId } from "../model/ids.ts";

interface Wait {
  readonly question: MessageId;
  readonly asked: readonly AgentId[];
}

export class Waits {
  /** Of agents that read nothing until they are answered. */
  private readonly waits = new Map<AgentId, Set<Wait>>();
  private readonly readers = new Map<AgentId, number>();

  /** Until disposed. A wait that takes questions blocks no other, and is not noted. */
  enter(waiter: AgentId, wait: Wait, takesQuestions: boolean): Disposable {
    if (takesQuestions) return { [Symbol.dispose]: () => undefined };
    const own = this.waits.get(waiter) ?? new Set();
    this.waits.set(waiter, own.add(wait));
    return {
      [Symbol.dispose]: () => {
        own.delete(wait);
        if (own.size === 0) this.waits.delete(waiter);
      },
    };
  }

  /** Reads its mail, whatever else it waits for. Until disposed. */
  read(reader: AgentId): Disposable {
    this.readers.set(reader, (this.readers.get(reader) ?? 0) + 1);
    return { [Symbol.dispose]: () => void this.readers.set(reader, this.readers.get(reader)! - 1) };
  }

  /**
   * The question that the agent has to answer before its own can be: all between the two wait for each other. null:
   * there is none.
   */
  before(waiter: AgentId, asked: readonly AgentId[]): MessageId | null {
    if (this.isReading(waiter)) return null;
    const known = new Set<AgentId>();
    const open = [...asked];
    for (let agent = open.pop(); agent !== undefined; agent = open.pop()) {
      if (known.has(agent) || this.isReading(agent)) continue;
      known.add(agent);
      for (const { question, asked: others } of this.waits.get(agent) ?? []) {
        if (others.includes(waiter)) return question;
        open.push(...others);
      }
    }
    return null;
  }

  private isReading(agent: AgentId): boolean {
    return (this.readers.get(agent) ?? 0) > 0;
  }
}
