import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { Principal } from "../domain/access/principal.ts";
import type { Role } from "../domain/access/roles.ts";
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
  interface FastifyRequest {
    /** Who calls; null: not known (yet). */
    principal: Principal | null;
    /** Its address, also of a call that another one makes in this process. */
    callerIp: string;
    /**
     * Of a person, and of a login by cookie. `loginId`: null if a proxy signs the person in; `endsAt`: null if it goes on
     * while it is used.
     */
    session: { loginId: string | null; endsAt: number | null } | null;
  }
  interface FastifyContextConfig {
    /** Needs no token: only for data that reveals nothing. */
    open?: boolean;
    /** Who may call it; a route that is not open must name it. */
    role?: Role;
    /** Whether keys with limits may call it, because it shows only what is within them; default: by its parameters. */
    limited?: boolean;
    /** For the audit log, if the store does not record the change itself: the action, such as `worker.drained`. */
    audit?: string;
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
