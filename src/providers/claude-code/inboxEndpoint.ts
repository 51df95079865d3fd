import { z } from "zod";
import { endpointKind } from "../../delivery/transports/endpointKind.ts";

/** The inbox file of a member of a Claude Code team. */
export const claudeInboxKind = endpointKind("claude-inbox", { inbox: z.string() });
