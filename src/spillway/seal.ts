import { createCipheriv, createDecipheriv, createHash, createHmac, hash } from "node:crypto";
import type { Seal } from "../prepare/ports.ts";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** AES-256-GCM. The nonce is made of key and text: the same text gives the same, and no two share one under a key. */
export const seal: Seal = {
  close(key, text) {
    const secret = Buffer.from(key, "hex");
    const nonce = createHmac("sha256", secret).update(text).digest().subarray(0, NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, secret, nonce);
    const sealed = [cipher.update(text, "utf8"), cipher.final()];
    return Buffer.concat([nonce, cipher.getAuthTag(), ...sealed]).toString("base64");
  },
  open(key, sealed) {
    const bytes = Buffer.from(sealed, "base64");
    const tagEnd = NONCE_BYTES + TAG_BYTES;
    const cipher = createDecipheriv(CIPHER, Buffer.from(key, "hex"), bytes.subarray(0, NONCE_BYTES));
    cipher.setAuthTag(bytes.subarray(NONCE_BYTES, tagEnd));
    return Buffer.concat([cipher.update(bytes.subarray(tagEnd)), cipher.final()]).toString("utf8");
  },
};

/** A text's SHA-256, in hex. The short way makes no object for each text; the first releases of Node 20 do not have it. */
export function sha256(text: string): string {
  return hash?.("sha256", text) ?? createHash("sha256").update(text).digest("hex");
}
