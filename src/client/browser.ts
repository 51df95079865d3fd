/**
 * `tieline/client`: the typed client for pages and for programs that have a URL and a token. Needs nothing but fetch.
 */
export { createClient, mayHaveArrived, type Client, type DaemonAddress, type Fetch } from "./client.ts";
export { streamEvents, type StreamedEvent, type StreamOptions } from "./stream.ts";
export { TielineError, type ErrorCode } from "../model/errors.ts";
export type {
  AgentView,
  Caller,
  DeliveryView,
  InboxView,
  Input,
  MessageView,
  OperationName,
  Output,
  ReceiptView,
  HistoryView,
} from "../api/schema.ts";
