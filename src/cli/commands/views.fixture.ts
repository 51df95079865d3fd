import type { AgentView, DeliveryView, InboxView, Output, ReceiptView, HistoryView } from "../../api/schema.ts";

/** Answers of a daemon, to be changed where a test cares. */

export const acceptedAt = Date.UTC(2026, 0, 2, 3, 4, 5);

export function delivery(change: Partial<DeliveryView> = {}): DeliveryView {
  return {
    agent: "engineer",
    agentId: change.agent ?? "engineer",
    team: "default",
    state: "queued",
    proof: null,
    transport: null,
    authority: null,
    reason: null,
    attempts: 0,
    warning: null,
    notes: [],
    answeredAt: null,
    stateAt: change.updatedAt ?? acceptedAt,
    updatedAt: acceptedAt,
    ...change,
  };
}

export const delivered = (agent = "engineer"): DeliveryView =>
  delivery({
    agent,
    state: "delivered",
    proof: "screen",
    transport: "tmux",
    authority: "user",
    attempts: 1,
    updatedAt: acceptedAt + 300,
  });

export function receipt(change: Partial<ReceiptView> = {}): ReceiptView {
  return {
    id: "019b7f3a-0000-7000-8000-00007f3a91c2",
    tag: "MSG_USER_7f3a91c2",
    from: "user",
    knownBy: "user",
    to: "engineer",
    team: "default",
    kind: "text",
    when: "turn",
    summary: "please look",
    thread: "019b7f3a-0000-7000-8000-00007f3a91c2",
    inReplyTo: null,
    expiresAt: null,
    acceptedAt,
    deliveries: [delivery()],
    ...change,
  };
}

export function history(change: Partial<HistoryView> = {}): HistoryView {
  const step = { agent: "engineer", agentId: "engineer", team: "default", reason: null, proof: null, transport: null };
  return {
    ...receipt({ deliveries: [delivered()] }),
    answers: null,
    steps: [
      { ...step, at: acceptedAt, verb: "accept", from: null, to: "queued" },
      {
        ...step,
        at: acceptedAt + 5,
        verb: "hold",
        from: "queued",
        to: "queued",
        reason: "a permission dialog is open in %14",
      },
      { ...step, at: acceptedAt + 200, verb: "claim", from: "queued", to: "claimed", transport: "tmux" },
      {
        ...step,
        at: acceptedAt + 300,
        verb: "settle",
        from: "claimed",
        to: "delivered",
        proof: "screen",
        transport: "tmux",
      },
    ],
    ...change,
  };
}

export function letter(change: Partial<InboxView> = {}): InboxView {
  return {
    id: "019b7f3a-0000-7000-8000-00007f3a91c2",
    tag: "MSG_ENGINEER_0a0b0c0d",
    from: "engineer",
    to: "user",
    team: "default",
    kind: "text",
    body: "done\nall green",
    text: change.body ?? "done\nall green",
    when: "turn",
    expectsReply: false,
    state: "delivered",
    reason: null,
    thread: "t",
    inReplyTo: null,
    answers: null,
    request: null,
    answered: null,
    at: acceptedAt,
    ...change,
  };
}

export function agent(change: Partial<AgentView> = {}): AgentView {
  return {
    id: "019b7f3a-1111-7000-8000-000000000001",
    name: "engineer",
    team: "default",
    role: null,
    kind: "program",
    details: true,
    provider: "generic",
    state: "idle",
    draft: false,
    reason: null,
    presence: "active",
    pane: "%14",
    pending: 0,
    held: null,
    heldAt: null,
    sessionId: null,
    workspace: null,
    model: null,
    cwd: null,
    note: null,
    profile: null,
    may: [],
    endpoints: [{ transport: "tmux", bestProof: "screen", authority: "user" }],
    lastActivityAt: acceptedAt,
    activity: {
      paneId: "%14",
      wishId: null,
      status: "idle",
      lastEvent: null,
      lastActivityAt: acceptedAt,
      eventCount: 0,
    },
    exit: null,
    ...change,
  };
}

export function daemonStatus(change: Partial<Output<"daemonStatus">> = {}): Output<"daemonStatus"> {
  return {
    running: true,
    pid: 4242,
    version: "0.1.0",
    socket: "/x/daemon.sock",
    home: "/x",
    startedAt: acceptedAt,
    agents: 2,
    waiting: 1,
    residentBytes: 50e6,
    ...change,
  };
}
