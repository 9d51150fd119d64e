import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BodyRules } from "./validation.ts";

/** What routes are added to: the schema of a route types its handler. */
export type ApiInstance = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Requests and replies as helpers see them, whatever the route. */
export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Answers without a token: only what gives nothing away. */
    open?: boolean;
    /** A page for people, which needs scripts and styles of its own; data needs neither. `based`: it names the base of its addresses; `frame`: it shows what strangers wrote; `file`: a part of pages. */
    page?: true | "based" | "dashboard" | "frame" | "file";
    /** Takes a body in YAML as well. */
    yaml?: boolean;
    /** Checks that a schema cannot express; run only when a body is rejected, so that one answer lists all errors. */
    rules?: BodyRules;
  }
}

export const UNSAFE_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
