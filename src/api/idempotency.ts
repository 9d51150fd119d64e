/** `Idempotency-Key`: a caller that does not know whether its call arrived sends it again with the same key. */
import { canonicalJson } from "../base/canonical-json.ts";
import { OrbError } from "../base/errors.ts";
import type { ApiDeps } from "./deps.ts";
import type { ApiRequest } from "./instance.ts";
import { Type } from "./type.ts";

export interface IdempotencyMark {
  key: string;
  /** The same key with a different call is an error; this distinguishes calls. */
  fingerprint: string;
}

const HEADER = "idempotency-key";
const LONGEST = 255;

/** For the `headers` of a route's schema; other headers are allowed. */
export const IdempotencyHeaders = Type.Object({
  [HEADER]: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST,
      pattern: "^[\\x21-\\x7e]+$",
      description:
        "idempotency key: a repeated call with the same key returns the first response and has no further effect",
    }),
  ),
});

/** Null: the caller sent no key. */
export function idempotencyOf({ seal }: Pick<ApiDeps, "seal">, request: ApiRequest): IdempotencyMark | null {
  const key = request.headers[HEADER];
  if (key === undefined) return null;
  if (typeof key !== "string" || key.length > LONGEST || !/^[\x21-\x7e]+$/.test(key)) {
    throw new OrbError("input_invalid", `header.${HEADER}: expected 1 to ${LONGEST} visible ASCII characters`, {
      fields: [{ path: `header.${HEADER}`, message: `expected 1 to ${LONGEST} visible ASCII characters` }],
    });
  }
  // The call may contain passwords, and the stored fingerprint must not help to guess them.
  return { key: `${namespaceOf(request)}${key}`, fingerprint: seal.mark(textOf(request)) };
}

/**
 * Of each key and person: others neither get its answers nor learn which keys it uses. No key of a caller contains a
 * space. The token and callers without one are the same admin, and keep the keys of earlier versions.
 */
export function namespaceOf({ principal }: ApiRequest): string {
  if (principal === null || principal.kind === "token" || principal.kind === "local") return "";
  return `${principal.kind} ${principal.id ?? principal.name} `;
}

/** As the use cases take it, scoped to the route: a caller's key alone would be shared by all routes. */
export function idempotencyMarkOf(deps: Pick<ApiDeps, "seal">, request: ApiRequest): IdempotencyMark | undefined {
  return idempotencyOf(deps, request) ?? undefined;
}

function textOf(request: ApiRequest): string {
  const [path = ""] = request.url.split("?", 1);
  const body = request.body === undefined ? "" : canonicalJson(request.body);
  return `${request.method}\n${path}\n${body}`;
}
