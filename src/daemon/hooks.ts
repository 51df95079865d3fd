/** Where hook calls come in: over loopback HTTP, from command hooks through the client, and from the spool. */
import type { HookPlace } from "../intake/hooks/place.ts";
import { readHookCall, type HookCall } from "../intake/hooks/call.ts";
import type { HookChain, Verdict } from "../intake/hooks/chain.ts";
import { watchSpool, type SpooledCall } from "../intake/hooks/spool.ts";
import { answerFor } from "../intake/hooks/wire.ts";
import type { Agent } from "../model/agent.ts";
import type { Operations } from "./http.ts";
import type { LoopbackRoute } from "./loopback.ts";

export const tokenHeader = "x-tieline-token";
const hookPath = /^\/hooks\/([a-z-]+)$/;

/** `POST /hooks/<provider>`. No token is asked for: a session that we do not know is told nothing. */
export const hookRoute =
  (door: HookDoor): LoopbackRoute =>
  (request, url) => {
    const provider = hookPath.exec(url.pathname)?.[1];
    return provider === undefined || request.method !== "POST" ? null : door.fetch(request, provider);
  };

/** What a call brings along that tells whose it is. */
export interface HookCaller {
  readonly token?: string | undefined;
  readonly tmuxSocket?: string | undefined;
  readonly pane?: string | undefined;
  readonly pid?: number | undefined;
}

export interface HookDoorParts {
  readonly chain: HookChain;
  readonly place: HookPlace;
  /** The agent that a call belongs to; null for sessions that we do not know. */
  readonly agentOf: (call: HookCall, caller: HookCaller) => Promise<Agent | null>;
  readonly report: (context: string, fault: unknown) => void;
  /** Whether calls that come in now may have been given up by their programs, which leave the line open. */
  readonly mayBeLate?: () => boolean;
}

/** An answer that its hook did not confirm in this time was not written by it. */
const unwrittenMs = 15_000;

export class HookDoor {
  private readonly unwritten = new Map<string, Verdict>();

  constructor(private readonly parts: HookDoorParts) {}

  /** An http hook. The answer counts as given once it has been taken off our hands. */
  async fetch(request: Request, provider: string): Promise<Response> {
    const call = readHookCall(provider, await this.payloadOf(request, provider));
    const token = request.headers.get(tokenHeader) || undefined;
    if (call && this.parts.mayBeLate?.()) {
      await this.observe(call, { token });
      return Response.json({});
    }
    const verdict = call && (await this.judge(call, { token }));
    const answer = call && verdict && answerFor(call, verdict);
    if (!answer) return Response.json({});
    const bytes = new TextEncoder().encode(JSON.stringify(answer));
    return new Response(this.handedOver(bytes, verdict, request.signal), { headers: { "content-type": "application/json" } });
  }

  readonly operations: Pick<Operations, "hook" | "hookWritten"> = {
    hook: async ({ provider, payload, tmuxSocket, pane, pid }, { caller }) => {
      const call = readHookCall(provider, payload);
      const verdict = call && (await this.judge(call, { tmuxSocket, pane, pid, token: caller.token }));
      const answer = call && verdict && answerFor(call, verdict);
      if (!answer) return { answer: null, receipt: null };
      const receipt = crypto.randomUUID();
      this.unwritten.set(receipt, verdict);
      setTimeout(() => this.unwritten.delete(receipt), unwrittenMs).unref();
      return { answer, receipt };
    },

    hookWritten: async ({ receipt }) => {
      const verdict = this.unwritten.get(receipt);
      this.unwritten.delete(receipt);
      await verdict?.written();
      return { known: verdict !== undefined };
    },
  };

  /** Reads the spool until the signal aborts. Nobody waits for an answer there, so mail stays where it is. */
  async readSpool(signal: AbortSignal): Promise<void> {
    const { place, report } = this.parts;
    const take = async ({ provider, payload, caller }: SpooledCall): Promise<void> => {
      const call = readHookCall(provider, payload);
      if (call) await this.observe(call, caller);
    };
    await watchSpool({ folder: place.spool, take, report, signal });
  }

  /** Null: what came is no JSON. The program that sent it goes on as if nobody had been asked. */
  private async payloadOf(request: Request, provider: string): Promise<unknown> {
    try {
      return await request.json();
    } catch (fault) {
      this.parts.report(`a hook call of ${provider} that can not be read`, fault);
      return null;
    }
  }

  private async observe(call: HookCall, caller: HookCaller): Promise<void> {
    const agent = await this.parts.agentOf(call, caller);
    if (agent) await this.parts.chain.observe(call, agent);
  }

  private async judge(call: HookCall, caller: HookCaller): Promise<Verdict | null> {
    const agent = await this.parts.agentOf(call, caller);
    return agent && this.parts.chain.run(call, agent);
  }

  private handedOver(bytes: Uint8Array, verdict: Verdict, signal: AbortSignal): ReadableStream<Uint8Array> {
    const { report } = this.parts;
    let settled = false;
    const settle = async (how: "written" | "lost"): Promise<void> => {
      if (settled) return;
      settled = true;
      await verdict[how]().catch((fault: unknown) => report(`hook answer ${how}`, fault));
    };
    let sent = false;
    return new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (!sent) {
            sent = true;
            controller.enqueue(bytes);
            return;
          }
          controller.close();
          await settle(signal.aborted ? "lost" : "written");
        },
        cancel: () => settle("lost"),
      },
      { highWaterMark: 0 },
    );
  }
}
