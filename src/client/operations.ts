import type { OperationName } from "./schema.ts";

/** How each operation travels: reads are GET with the input in the query, the rest POST with a JSON body. */
export const operations: Record<OperationName, "GET" | "POST"> = {
  send: "POST",
  reply: "POST",
  show: "GET",
  status: "GET",
  wait: "GET",
  inbox: "POST",
  collected: "POST",
  log: "GET",
  cancel: "POST",
  retry: "POST",
  dead: "GET",
  ls: "GET",
  adopt: "POST",
  rm: "POST",
  read: "GET",
  up: "POST",
  down: "POST",
  events: "GET",
  doctor: "POST",
  daemonStatus: "GET",
  daemonStop: "POST",
};

export const pathOf = (name: OperationName): string => `/v1/${name}`;
export const callerHeader = "x-tieline-caller";
