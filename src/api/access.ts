import type { Permission } from "../model/agent.ts";

/**
 * Who may call an operation, and with whose data. The daemon checks the rule before the operation runs; what an answer
 * may hold where the rule is `readable` or `own`, the operation itself keeps to.
 *
 * An agent may read itself, the agents that it spawned, and with `may: [read]` the agents of its team: their mail,
 * their screens and their states. It may read a message when it may read its sender or a recipient.
 */
export type Access =
  /** No identity is asked for: the operation has a check of its own, or reveals nothing about others. */
  | "open"
  /** The user and every agent; reveals nothing of others' mail or screens. */
  | "everyone"
  /** The user and every agent, each about itself. */
  | "own"
  /** The user and every agent; the answer holds only what the caller may read. */
  | "readable"
  /** Those who may read the message that `tag` names. To others there is no such message. */
  | "message"
  /** Those who may read the agent that `agent` names; without it, the caller itself. */
  | "agent"
  | "user"
  /** The user, and agents with this in the `may:` of their profile. */
  | Permission;

/** The same in words, for docs/api.md. */
export const accessWords: Readonly<Record<Access, string>> = {
  open: "any caller on the socket",
  everyone: "the user, agents",
  own: "the user, agents: each for itself",
  readable: "the user; agents see what they may read",
  message: "callers that may read the message",
  agent: "callers that may read the agent",
  user: "the user",
  spawn: "the user, `may: [spawn]`",
  kill: "the user, `may: [kill]`",
  answer: "the user, `may: [answer]`",
  topology: "the user, `may: [topology]`",
  "broadcast-all": "the user, `may: [broadcast-all]`",
  read: "the user, `may: [read]`",
};
