import type * as Crypto from "node:crypto";
import type { PrepareParts, Seal } from "../prepare/parts.ts";
import type { Prepare } from "../prepare/prepare.ts";
import { checkPrepare } from "./check-options.ts";

/** Prepares requests, loaded with the first one. */
export function lazyPrepare(parts: Omit<PrepareParts, "sha256" | "seal">): Prepare {
  let loading: Promise<Prepare> | undefined;
  const load = async () => {
    const [{ newPrepare }, crypto] = await Promise.all([import("../prepare/prepare.ts"), import("node:crypto")]);
    const { createHash, hash } = crypto;
    // The short way makes no object for each text; the first releases of Node 20 do not have it.
    const sha256 = (text: string) => hash?.("sha256", text) ?? createHash("sha256").update(text).digest("hex");
    return newPrepare({ ...parts, sha256, seal: sealWith(crypto) });
  };
  return async (messages, options) => {
    checkPrepare(options);
    return (await (loading ??= load()))(messages, options);
  };
}

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** The nonce is made of key and text: the same text gives the same, and no two share one under a key. */
function sealWith({ createCipheriv, createDecipheriv, createHmac }: typeof Crypto): Seal {
  return {
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
}
