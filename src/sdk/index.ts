/** `import { connect } from "tieline"`: write to agents, be one, and watch what happens, from a program of your own. */
export { connect, type ConnectOptions } from "./connect.ts";
export type { ConnectedAgent, Answer, AskOptions, Letter, NewObject, RegisteredObject, SendOptions } from "./agent.ts";
export {
  Refusal,
  type Accepted,
  type MessageApi,
  type ObjectApi,
  type ObjectHandler,
  type ReceivedMessage,
} from "../objects/handler.ts";
export { TielineError, type ErrorCode } from "../model/errors.ts";
export type { Client } from "../client/client.ts";
export type { StreamedEvent, StreamOptions } from "../client/stream.ts";
export type {
  AgentView,
  DeliveryView,
  InboxView,
  Input,
  MessageView,
  OperationName,
  Output,
  ReceiptView,
  HistoryView,
} from "../api/schema.ts";
