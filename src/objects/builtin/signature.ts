/**
 * `x-tieline-signature: t=1767225600,v1=<hex>`: the seconds at which a request was signed, and the HMAC-SHA256 of
 * `<t>.<body>` under the shared secret. An old signature is worth nothing.
 */
import { createHmac, timingSafeEqual } from "node:crypto";

export const signatureHeader = "x-tieline-signature";
const toleranceSeconds = 300;

export function sign(secret: string, body: string, nowMs: number): string {
  const seconds = Math.floor(nowMs / 1_000);
  return `t=${seconds},v1=${digest(secret, `${seconds}.${body}`)}`;
}

export function isSignedBy(secret: string, body: string, signature: string, nowMs: number): boolean {
  const [, seconds, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(signature) ?? [];
  if (seconds === undefined || given === undefined) return false;
  if (Math.abs(nowMs / 1_000 - Number(seconds)) > toleranceSeconds) return false;
  return same(given, digest(secret, `${seconds}.${body}`));
}

/** Takes as long for a wrong text as for a right one. */
export function same(given: string, right: string): boolean {
  const [a, b] = [
    createHmac("sha256", "compare").update(given).digest(),
    createHmac("sha256", "compare").update(right).digest(),
  ];
  return timingSafeEqual(a, b);
}

const digest = (secret: string, text: string): string => createHmac("sha256", secret).update(text).digest("hex");
