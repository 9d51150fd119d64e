/** Shared by previews and learning: a page by URL or as text, processed while the caller waits. */
import type { FastifyReply } from "fastify";
import { oneOf } from "../../schemas.ts";
import { Type } from "../../type.ts";
import { SessionRef } from "./header-schemas.ts";

export const pageSource = {
  url: Type.Optional(Type.String({ minLength: 1, maxLength: 8192 })),
  html: Type.Optional(Type.String({ description: "HTML of the page, instead of fetching it" })),
  content_type: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: "content type of html; default: text/html" }),
  ),
};

export const fetchOptions = {
  strategy: Type.Optional(oneOf(["auto", "http", "browser"])),
  timeout_seconds: Type.Optional(Type.Number({ exclusiveMinimum: 0, maximum: 120 })),
  session_id: Type.Optional(SessionRef),
};

export function untilCallerLeaves(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once("close", () => gone.abort());
  return gone.signal;
}
