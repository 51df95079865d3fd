/** The cryptography of the page, using WebCrypto only. */
import { base64url, bytesOf, keyAlgorithm, signatureAlgorithm } from "../../src/client/pageProtocol.ts";

export interface OwnKey {
  readonly privateKey: CryptoKey;
  /** The public key: SPKI, base64url. */
  readonly spki: string;
}

const encode = (text: string): Uint8Array<ArrayBuffer> => new TextEncoder().encode(text);

/** A key pair whose private half cannot be exported. */
export async function newKey(): Promise<OwnKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(keyAlgorithm, false, ["sign", "verify"]);
  return { privateKey, spki: base64url(await crypto.subtle.exportKey("spki", publicKey)) };
}

export const signed = async (key: CryptoKey, text: string): Promise<string> =>
  base64url(await crypto.subtle.sign(signatureAlgorithm, key, encode(text)));

export const digestOf = async (text: string): Promise<string> =>
  base64url(await crypto.subtle.digest("SHA-256", encode(text)));

export async function hmacOf(secret: string, text: string): Promise<string> {
  const key = await crypto.subtle.importKey("raw", bytesOf(secret), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  return base64url(await crypto.subtle.sign("HMAC", key, encode(text)));
}

/** Whether the text was signed by the daemon with this fingerprint. */
export async function isFromDaemon(
  fingerprint: string,
  spki: string,
  text: string,
  signature: string,
): Promise<boolean> {
  const bytes = bytesOf(spki);
  if (base64url(await crypto.subtle.digest("SHA-256", bytes)) !== fingerprint) return false;
  const key = await crypto.subtle.importKey("spki", bytes, keyAlgorithm, false, ["verify"]);
  return crypto.subtle.verify(signatureAlgorithm, key, bytesOf(signature), encode(text));
}

export const newNonce = (): string => base64url(crypto.getRandomValues(new Uint8Array(24)));
