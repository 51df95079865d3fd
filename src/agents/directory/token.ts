import { createHash, randomBytes } from "node:crypto";

/** A secret that proves who a caller is. Only its digest is kept. */
export const newToken = (): string => randomBytes(24).toString("hex");

export const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");
