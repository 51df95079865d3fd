import { z } from "zod";
import { GatewayOptions } from "./gateway.ts";
import { TickOptions } from "./tick.ts";

/** What the system objects can be set to, by their names. */
export const builtinOptions: Readonly<Record<string, z.ZodType>> = {
  metrics: z.strictObject({}),
  tick: TickOptions,
  gateway: GatewayOptions,
};
