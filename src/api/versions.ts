/** Optimistic concurrency: `If-Match`, or `version` in the body. */
import type { ApiRequest } from "./instance.ts";
import { Type } from "./type.ts";

export const Version = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "the version that you read; an update with it is rejected with 409 if the resource has changed since",
});

/** For the `headers` of a route's schema. */
export const VersionHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "the version that you read; the same as `version`" }),
  ),
});

/** Undefined: unconditional. `*` matches any version. */
export function expectedVersion(request: ApiRequest, inBody?: string): string | undefined {
  if (inBody !== undefined) return inBody;
  const header = request.headers["if-match"];
  const [, version] = /^\s*(?:W\/)?"?([^"]*)"?\s*$/.exec(typeof header === "string" ? header : "") ?? [];
  return version === undefined || version === "" || version === "*" ? undefined : version;
}
