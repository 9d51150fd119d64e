import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { BodyRules } from "./validation.ts";

/** The Fastify instance: the schema of a route types its handler. */
export type ApiInstance = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

/** Requests and replies of any route. */
export type ApiRequest = FastifyRequest;
export type ApiReply = FastifyReply;

declare module "fastify" {
  interface FastifyContextConfig {
    /** Needs no token: only for data that reveals nothing. */
    open?: boolean;
    /**
     * An HTML page, which needs its own scripts and styles; data needs neither. `based`: it sets the base URL; `frame`:
     * it shows third-party HTML; `file`: an asset of pages.
     */
    page?: true | "based" | "dashboard" | "frame" | "file";
    /** Also accepts YAML. */
    yaml?: boolean;
    /** Checks that a schema cannot express; run only when a body is rejected, so that one response lists all errors. */
    rules?: BodyRules;
  }
}

export const UNSAFE_METHODS: ReadonlySet<string> = new Set(["POST", "PUT", "PATCH", "DELETE"]);
