import { createHash } from "node:crypto";

/** Tells our keys from other tokens, also for secret scanners. */
const PREFIX = "orb_";
const SHOWN = PREFIX.length + 6;
const SECRET = /^orb_[\w-]{43}$/;

/** From 32 random bytes. */
export function keySecret(bytes: Uint8Array): { secret: string; prefix: string; hash: string } {
  const secret = `${PREFIX}${Buffer.from(bytes).toString("base64url")}`;
  return { secret, prefix: secret.slice(0, SHOWN), hash: hashOfSecret(secret) };
}

export const isKeySecret = (text: string) => SECRET.test(text);

/**
 * Without salt or many rounds: nobody guesses 256 random bits. Looking a key up by its hash reveals nothing by its time,
 * because a caller cannot choose the hash.
 */
export function hashOfSecret(secret: string): string {
  return createHash("sha256").update(secret).digest("hex");
}
