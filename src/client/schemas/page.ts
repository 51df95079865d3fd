import { z } from "zod";

export const pageSchemas = {
  /** The person only. The link opens the page once, within a minute. */
  dash: {
    input: z.object({ port: z.number().int().min(1).max(65_535).optional().describe("another port of this machine to serve the page at, until the daemon stops") }),
    output: z.object({ url: z.string(), port: z.number().int() }),
  },
  /** The person only. Types into an agent's pane as a keyboard would; control characters are keys. */
  typeKeys: {
    input: z.object({ agent: z.string(), keys: z.string().min(1).max(4_096) }),
    output: z.object({ agent: z.string(), pane: z.string() }),
  },
} as const;
