/**
 * Known bugs, put back at the seams of the parts, to show that the simulation finds them. Each names the number of
 * seeds within which it is found.
 */
import type { Mailbox } from "../../mailbox/port.ts";
import type { Outcome } from "../../model/delivery.ts";
import type { Exec } from "../../os/exec.ts";
import type { WorldMutation } from "./world.ts";

export interface Mutant {
  readonly name: string;
  readonly mutation: WorldMutation;
  /** It is found by one of so many seeds, from `firstSeed` on; 1 if left out. */
  readonly withinSeeds: number;
  readonly firstSeed?: number;
}

const mailboxWith = (change: (mailbox: Mailbox) => Partial<Mailbox>): WorldMutation => ({
  mailbox: (mailbox) => ({ ...mailbox, ...change(mailbox) }),
});

/** Changes the command lists on their way to tmux; such a world has no control client. */
const listsWith = (change: (list: string) => string): WorldMutation => ({
  attaches: false,
  exec:
    (exec): Exec =>
    (argv, options = {}) =>
      exec(argv, { ...options, ...(options.stdin !== undefined && { stdin: change(String(options.stdin)) }) }),
});

const absent: Outcome = { kind: "absent", detail: "put back by a mutant" };
const nowhere = { transport: null, authority: null };

export const mutants: readonly Mutant[] = [
  {
    name: "Enter without a fresh snapshot: its guards hold whatever the pane shows",
    mutation: listsWith((list) =>
      list.includes("send-keys") ? list.replace(/if -F -t (%\d+) "(?:[^"\\]|\\.)*"/, 'if -F -t $1 "1"') : list,
    ),
    withinSeeds: 60,
  },
  {
    name: "a paste without its guards",
    mutation: listsWith((list) =>
      list.includes("paste-buffer") ? list.replace(/if -F -t (%\d+) "(?:[^"\\]|\\.)*"/, 'if -F -t $1 "1"') : list,
    ),
    withinSeeds: 25,
  },
  {
    name: "no mark after a paste",
    mutation: listsWith((list) => list.replaceAll(/@tieline_(pasted|entered) /g, "@tieline_other ")),
    withinSeeds: 60,
  },
  {
    name: "no recovery at the start",
    mutation: mailboxWith((mailbox) => ({
      recover: async (now, scope) => (scope === "start" ? [] : mailbox.recover(now, scope)),
    })),
    withinSeeds: 60,
  },
  {
    name: "what was in doubt after a crash is sent again at once",
    mutation: mailboxWith((mailbox) => ({
      async recover(now, scope) {
        for (const { id } of await mailbox.recover(now, scope)) await mailbox.settle(id, absent, nowhere);
        return [];
      },
    })),
    withinSeeds: 60,
  },
  {
    name: "a claim without a look at its lease: what another reader has is taken again",
    mutation: mailboxWith((mailbox) => ({
      inbox: (agent, filter) =>
        mailbox
          .inbox(agent, filter)
          .map((row) =>
            row.delivery.state === "claimed" && filter?.pending
              ? { ...row, delivery: { ...row.delivery, state: "queued" } }
              : row,
          ),
      async claim(id, options) {
        if (options.lane === "pull" && mailbox.delivery(id)?.state === "claimed")
          await mailbox.settle(id, absent, nowhere);
        return mailbox.claim(id, options);
      },
    })),
    withinSeeds: 200,
  },
  {
    name: "a settle that is lost",
    mutation: mailboxWith((mailbox) => ({
      settle: async (id, outcome, via) =>
        outcome.kind === "delivered" && Number(id) % 5 === 0 ? mailbox.delivery(id)! : mailbox.settle(id, outcome, via),
    })),
    withinSeeds: 10,
  },
  {
    name: "dedupe by a window of time instead of the sender's key",
    mutation: mailboxWith((mailbox) => ({
      accept: (message, recipients) => mailbox.accept({ ...message, idempotencyKey: null }, recipients),
    })),
    withinSeeds: 60,
  },
  {
    name: "order ignored across lanes, and next to what is in doubt",
    mutation: mailboxWith((mailbox) => ({
      deliveriesIn: (states, limit) => (states.includes("claimed") ? [] : mailbox.deliveriesIn(states, limit)),
      inbox: (agent, filter) => (filter?.pending ? mailbox.inbox(agent, filter) : []),
    })),
    firstSeed: 60,
    withinSeeds: 20,
  },
  {
    name: "last in, first out",
    mutation: {
      store: (store) => ({
        ...store,
        heads: (agent) =>
          store
            .heads(agent)
            .map((head) =>
              store.inStates(["queued"], 1_000).findLast((one) => one.agent === agent && one.when === head.when)!,
            ),
      }),
    },
    withinSeeds: 10,
  },
  {
    name: "a dropped watch event, and no sweep behind it",
    mutation: { courier: { sweepMs: 10 * 3_600_000 }, dropsWatchEvents: true },
    withinSeeds: 60,
  },
  {
    name: "delivered counts as seen",
    mutation: mailboxWith((mailbox) => ({
      settle: (id, outcome, via) =>
        mailbox.settle(id, outcome.kind === "delivered" ? { ...outcome, proof: "transcript" } : outcome, via),
    })),
    withinSeeds: 5,
  },
  {
    name: "a receipt before the commit",
    mutation: mailboxWith((mailbox) => ({
      async accept(message, recipients) {
        mailbox.accept(message, recipients).catch(() => undefined);
        return { message, deliveries: [] };
      },
    })),
    withinSeeds: 20,
  },
  { name: "two daemons serve one home", mutation: { ignoresLock: true }, withinSeeds: 60 },
];
