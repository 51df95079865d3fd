import { z } from "zod";

/** GET inputs arrive as text. */
export const count = z.coerce.number().int().nonnegative();
export const flag = z.preprocess((value) => (value === "true" ? true : value === "false" ? false : value), z.boolean());
export const time = z.number().describe("milliseconds since the epoch");
