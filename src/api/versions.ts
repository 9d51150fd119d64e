/** Optimistic concurrency: `If-Match`, or `version` in the body. */
import type { ApiRequest } from "./instance.ts";
import { Type } from "./type.ts";

export const Version = Type.String({
  minLength: 1,
  maxLength: 100,
  description: "as it was read; a change that names it is refused with 409 if somebody else has changed it since",
});

/** For the `headers` of a route's schema. */
export const VersionHeaders = Type.Object({
  "if-match": Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "the version that was read; the same as `version`" }),
  ),
});

/** Undefined: unconditional. `*` matches any version. */
export function expectedVersion(request: ApiRequest, inBody?: string): string | undefined {
  if (inBody !== undefined) return inBody;
  const header = request.headers["if-match"];
  const [, version] = /^\s*(?:W\/)?"?([^"]*)"?\s*$/.exec(typeof header === "string" ? header : "") ?? [];
  return version === undefined || version === "" || version === "*" ? undefined : version;
}
