import type { ReadResourceResult, Resource, ResourceTemplateType } from "@modelcontextprotocol/server";
import type { Client } from "../client/client.ts";
import { TielineError } from "../model/errors.ts";
import { agentLines, letterText, messageText } from "./toolText.ts";

const mimeType = "text/plain";

/** Looking at a resource changes nothing: mail stays unread until a tool has shown it. */
export const resources: readonly Resource[] = [
  {
    uri: "tieline://inbox",
    name: "inbox",
    title: "Your inbox",
    description: "The newest messages for you, read or not.",
    mimeType,
  },
  {
    uri: "tieline://team",
    name: "team",
    title: "Your team",
    description: "Your own name, the other agents, and what they are doing.",
    mimeType,
  },
];

export const resourceTemplates: readonly ResourceTemplateType[] = [
  {
    uriTemplate: "tieline://message/{tag}",
    name: "message",
    title: "A message",
    description: "The whole text of one message.",
    mimeType,
  },
];

export async function readResource(
  uri: string,
  client: Client,
  signal: AbortSignal,
): Promise<ReadResourceResult["contents"][number]> {
  return { uri, mimeType, text: await textAt(uri, client, signal) };
}

async function textAt(uri: string, client: Client, signal: AbortSignal): Promise<string> {
  if (uri === "tieline://inbox") {
    const mail = await client.call("inbox", { peek: true, limit: 20 }, signal);
    return mail.length === 0 ? "no messages" : mail.map(letterText).join("\n\n");
  }
  if (uri === "tieline://team") {
    const [me, agents] = await Promise.all([client.call("whoami", {}, signal), client.call("ls", {}, signal)]);
    return agentLines(me, agents);
  }
  const tag = /^tieline:\/\/message\/(\w+)$/.exec(uri)?.[1];
  if (tag !== undefined) return messageText(await client.call("show", { tag }, signal));
  throw new TielineError("USAGE", `there is no resource ${JSON.stringify(uri.slice(0, 200))}`, {
    remedy: `read ${resources.map((one) => one.uri).join(", ")} or tieline://message/TAG`,
  });
}
