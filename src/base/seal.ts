import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from "node:crypto";
import { OrbError } from "./errors.ts";

/** Encrypts secrets of the database: AES-256-GCM under a key derived from the secret. */
export interface Seal {
  /** `about` is authenticated data: what was sealed for one purpose does not open for another. */
  close(value: unknown, about: string): Uint8Array;
  open(sealed: Uint8Array, about: string): unknown;
  /**
   * A keyed hash: equal for equal texts, and useless without the secret. A plain hash would allow guessing short texts,
   * such as a password.
   */
  mark(text: string): string;
}

const VERSION = 1;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export function createSeal(secret: string): Seal {
  const key = Buffer.from(hkdfSync("sha256", secret, "orbweaver", "stored credentials", 32));
  const markKey = Buffer.from(hkdfSync("sha256", secret, "orbweaver", "marks of texts", 32));
  return {
    mark: (text) => createHmac("sha256", markKey).update(text).digest("hex"),
    close(value, about) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(JSON.stringify(value), "utf8"), cipher.final()]);
      return Buffer.concat([Buffer.from([VERSION]), nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, about) {
      const bytes = Buffer.from(sealed);
      try {
        if (bytes[0] !== VERSION) throw new Error("an unknown form");
        const nonce = bytes.subarray(1, 1 + NONCE_BYTES);
        const tag = bytes.subarray(1 + NONCE_BYTES, 1 + NONCE_BYTES + TAG_BYTES);
        const tagOptions = { authTagLength: TAG_BYTES };
        const decipher = createDecipheriv("aes-256-gcm", key, nonce, tagOptions)
          .setAAD(Buffer.from(about))
          .setAuthTag(tag);
        const body = Buffer.concat([decipher.update(bytes.subarray(1 + NONCE_BYTES + TAG_BYTES)), decipher.final()]);
        return JSON.parse(body.toString("utf8")) as unknown;
      } catch (error) {
        throw new OrbError("secret_key_wrong", "stored credentials cannot be decrypted with the current key", {
          cause: error,
          hint: "Set APP_SECRET_KEY to the original key, or store them again.",
        });
      }
    },
  };
}
