import type { Permission } from "../model/agent.ts";
import type { OperationName } from "./schema.ts";

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

export const access: Readonly<Record<OperationName, Access>> = {
  send: "everyone",
  reply: "message",
  show: "message",
  status: "message",
  wait: "message",
  inbox: "agent",
  collect: "own",
  collected: "own",
  log: "readable",
  cancel: "message",
  retry: "message",
  dead: "readable",
  ls: "readable",
  adopt: "user",
  register: "spawn",
  whoami: "own",
  rm: "kill",
  prune: "kill",
  read: "agent",
  explain: "agent",
  layout: "spawn",
  up: "spawn",
  down: "kill",
  spawn: "spawn",
  stop: "kill",
  kill: "kill",
  restart: "kill",
  resume: "spawn",
  interrupt: "kill",
  dialog: "answer",
  choose: "answer",
  discover: "user",
  place: "everyone",
  readNext: "agent",
  events: "readable",
  activity: "readable",
  export: "readable",
  hook: "open",
  hookWritten: "open",
  doctor: "readable",
  daemonStatus: "open",
  daemonStop: "kill",
  backup: "user",
  resolve: "everyone",
  topology: "everyone",
  topologyAdd: "topology",
  topologyRemove: "topology",
  topologyCheck: "everyone",
  topologyExport: "everyone",
  teams: "readable",
  team: "readable",
  teamCreate: "spawn",
  teamJoin: "topology",
  teamLeave: "topology",
  teamRename: "topology",
  teamDisband: "kill",
  teamShutdown: "kill",
  trustShow: "user",
  trust: "user",
  profiles: "everyone",
  profile: "everyone",
  profileAdd: "user",
  profileRemove: "user",
  note: "own",
  answer: "message",
  requests: "answer",
  answerRequest: "answer",
  metrics: "readable",
  dash: "user",
  devices: "user",
  devicesRevoke: "user",
  preferences: "user",
  preferencesSet: "user",
  typeKeys: "user",
};

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
