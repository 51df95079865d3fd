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

export const preferenceKey = z.string().regex(/^[A-Za-z][\w.-]{0,63}$/);
