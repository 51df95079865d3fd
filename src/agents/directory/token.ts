import { createHash } from "node:crypto";
import { systemRandom, type RandomBytes } from "../../model/ids.ts";

/** A secret that proves who a caller is. Only its digest is kept. */
export const newToken = (random: RandomBytes = systemRandom): string => Buffer.from(random(24)).toString("hex");

export const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");
