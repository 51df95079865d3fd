/** Keys of the dashboard: the daemon's own, by which pages know it, and the public keys of devices and tabs. */
import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  sign,
  verify,
  type KeyObject,
} from "node:crypto";
import { atomicWrite } from "../../os/atomicWrite.ts";
import { untrustedText } from "../../os/untrustedFile.ts";

export interface PageKey {
  /** The public key: SPKI, base64url. */
  readonly spki: string;
  /** Its SHA-256, base64url: what a link carries. */
  readonly fingerprint: string;
  sign(text: string): string;
}

const maxBytes = 4096;
/** As WebCrypto writes signatures. */
const encoding = { dsaEncoding: "ieee-p1363" } as const;

/** The key in the file. Makes one when there is none or it is damaged; open pages then have to sign in again. */
export function pageKeyIn(file: string, told: (note: string) => void): PageKey {
  const privateKey = readKey(file) ?? newKey(file, told);
  const spki = createPublicKey(privateKey).export({ format: "der", type: "spki" });
  return {
    spki: spki.toString("base64url"),
    fingerprint: createHash("sha256").update(spki).digest("base64url"),
    sign: (text) => sign("sha256", Buffer.from(text), { key: privateKey, ...encoding }).toString("base64url"),
  };
}

function readKey(file: string): KeyObject | null {
  const pem = untrustedText(file, { maxBytes });
  if (pem === null) return null;
  try {
    const key = createPrivateKey(pem);
    return isP256(key) ? key : null;
  } catch {
    // An empty or cut file is no key; the caller makes another and tells.
    return null;
  }
}

function newKey(file: string, told: (note: string) => void): KeyObject {
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  atomicWrite(file, privateKey.export({ format: "pem", type: "pkcs8" }));
  told(`made a new key for the dashboard in ${file}`);
  return privateKey;
}

/** null: not the public key of a browser's ECDSA P-256 key pair. */
export function publicKeyIn(spki: string): KeyObject | null {
  try {
    const key = createPublicKey({ key: Buffer.from(spki, "base64url"), format: "der", type: "spki" });
    return isP256(key) ? key : null;
  } catch {
    return null;
  }
}

const isP256 = (key: KeyObject): boolean =>
  key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1";

export const isSignedBy = (key: KeyObject, text: string, signature: string): boolean =>
  verify("sha256", Buffer.from(text), { key, ...encoding }, Buffer.from(signature, "base64url"));
