import { z } from "zod";
import { time } from "./fields.ts";

export const DeviceView = z.object({
  id: z.string(),
  name: z.string().describe("browser and system, as the browser names them"),
  scope: z.enum(["full"]),
  state: z
    .enum(["active", "dormant"])
    .describe("dormant: signed in before the daemon was restarted, so that only a tab that stayed open can use it"),
  addedAt: time,
  lastUsedAt: time,
});
export type DeviceView = z.infer<typeof DeviceView>;

const preferenceKey = z.string().regex(/^[A-Za-z][\w.-]{0,63}$/);

export const pageSchemas = {
  /** The user only. The link opens the page once, within a minute. */
  dash: {
    input: z.object({
      port: z
        .number()
        .int()
        .min(1)
        .max(65_535)
        .optional()
        .describe("another port of this machine to serve the page at, until the daemon stops"),
      byAddress: z
        .boolean()
        .optional()
        .describe(
          "link to 127.0.0.1, for browsers that do not find names below localhost; weaker, see docs/security.md",
        ),
      fileIn: z
        .string()
        .optional()
        .describe(
          "a directory: write a private file that leads to the link; it is removed once the link was used or " +
            "has expired",
        ),
    }),
    output: z.object({ url: z.string(), port: z.number().int(), file: z.string().nullable() }),
  },
  /** The user only. */
  devices: { input: z.object({}), output: z.array(DeviceView) },
  /** The user only. */
  devicesRevoke: {
    input: z.union([z.object({ devices: z.array(z.string()).min(1) }), z.object({ all: z.literal(true) })]),
    output: z.object({ revoked: z.array(DeviceView) }),
  },
  /** The user only. */
  preferences: { input: z.object({}), output: z.record(preferenceKey, z.json()) },
  /** The user only. null removes a key; the others stay. */
  preferencesSet: {
    input: z.object({ values: z.record(preferenceKey, z.json()) }),
    output: z.object({ bytes: z.number().int() }),
  },
  /** The user only. Types into an agent's pane as a keyboard would; control characters are keys. */
  typeKeys: {
    input: z.object({ agent: z.string(), keys: z.string().min(1).max(4_096) }),
    output: z.object({ agent: z.string(), pane: z.string() }),
  },
} as const;
