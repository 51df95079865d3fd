import type { OperationName } from "./schema.ts";

/** How each operation travels: reads are GET with the input in the query, the rest POST with a JSON body. */
export const methods: Record<OperationName, "GET" | "POST"> = {
  send: "POST",
  reply: "POST",
  show: "GET",
  status: "GET",
  wait: "GET",
  inbox: "POST",
  collect: "POST",
  collected: "POST",
  log: "GET",
  logCount: "GET",
  lastMessages: "GET",
  cancel: "POST",
  retry: "POST",
  dead: "GET",
  ls: "GET",
  adopt: "POST",
  register: "POST",
  whoami: "GET",
  rm: "POST",
  prune: "POST",
  read: "GET",
  explain: "GET",
  layout: "POST",
  up: "POST",
  down: "POST",
  spawn: "POST",
  stop: "POST",
  kill: "POST",
  restart: "POST",
  resume: "POST",
  interrupt: "POST",
  dialog: "GET",
  choose: "POST",
  discover: "GET",
  place: "GET",
  readNext: "GET",
  events: "GET",
  activity: "GET",
  statistics: "GET",
  edges: "GET",
  export: "GET",
  hook: "POST",
  hookWritten: "POST",
  doctor: "POST",
  daemonStatus: "GET",
  daemonStop: "POST",
  backup: "POST",
  resolve: "GET",
  topology: "GET",
  topologyAdd: "POST",
  topologyRemove: "POST",
  topologyCheck: "GET",
  topologyExport: "GET",
  teams: "GET",
  team: "GET",
  teamCreate: "POST",
  teamJoin: "POST",
  teamLeave: "POST",
  teamRename: "POST",
  teamDisband: "POST",
  teamShutdown: "POST",
  trustShow: "GET",
  trust: "POST",
  profiles: "GET",
  profile: "GET",
  profileAdd: "POST",
  profileRemove: "POST",
  note: "POST",
  awaitAnswer: "GET",
  requests: "GET",
  answerRequest: "POST",
  metrics: "GET",
  dash: "POST",
  devices: "GET",
  devicesRevoke: "POST",
  preferences: "GET",
  preferencesSet: "POST",
  typeKeys: "POST",
};

/** In addition to reads: what does no harm when it is done twice, because the second time finds it done. */
export const repeatable: ReadonlySet<OperationName> = new Set([
  "inbox",
  "collect",
  "collected",
  "adopt",
  "up",
  "note",
  "doctor",
  "topologyAdd",
  "teamCreate",
  "teamJoin",
  "answerRequest",
  "preferencesSet",
]);

/** 1 MiB of text may need up to six bytes per character in JSON, and an envelope around it. */
export const longestBodyBytes = 8 * 1024 * 1024;

/** Operations that carry a text. */
const longInputs: ReadonlySet<OperationName> = new Set(["send", "reply", "profileAdd"]);

/** How long the body of a request may be. */
export const maxBodyBytes = (name: OperationName): number => (longInputs.has(name) ? longestBodyBytes : 256 * 1024);

/** Served on the socket only, where all callers are processes of one user. */
export const socketOnly: readonly OperationName[] = ["hook", "hookWritten", "backup"];

export const pathOf = (name: OperationName): string => `/v1/${name}`;
export const callerHeader = "x-tieline-caller";
/** Notices for the user, in addition to the answer: a list of texts, as JSON. */
export const noticeHeader = "x-tieline-notice";

/** Who waits longer asks again: shorter than what anything in between takes for a dead connection. */
export const longestPollMs = 20_000;
