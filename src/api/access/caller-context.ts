/** Makes the principal of a request the caller of everything that the request does. */
import { beginCall } from "../../domain/access/caller.ts";
import { messageOf, OrbError } from "../../base/errors.ts";
import type { ApiDeps } from "../deps.ts";
import { type ApiInstance, type ApiRequest, UNSAFE_METHODS } from "../instance.ts";
import { Delegations } from "./delegations.ts";
import { ForwardedPeople } from "./forwarded-person.ts";
import { callerBy, refuseLateAnswers } from "./held-answers.ts";
import { Keys } from "./keys.ts";
import { RateLimits } from "./rate-limit.ts";

declare module "fastify" {
  interface FastifyInstance {
    keys: Keys;
    rateLimits: RateLimits;
    delegations: Delegations;
    /** Null: no proxy signs people in. */
    forwardedPeople: ForwardedPeople | null;
  }
}

export function addAccess(api: ApiInstance, deps: ApiDeps): void {
  api.decorate("keys", new Keys(deps));
  api.decorate("rateLimits", new RateLimits(deps.clock));
  api.decorate("delegations", new Delegations());
  const { forwarded = null, roles = {} } = deps.singleSignOn ?? {};
  api.decorate("forwardedPeople", forwarded === null ? null : new ForwardedPeople(forwarded, roles));
}

const ENDS = new WeakMap<ApiRequest, { end(): void }>();

/** After authentication, and before anything reads the store for the caller. */
export function followCaller(api: ApiInstance, deps: ApiDeps): void {
  // With a callback: what follows it runs within the context.
  api.addHook("preValidation", (request, _reply, done) => {
    const { principal } = request;
    if (principal === null) return done();
    ENDS.set(request, beginCall(callerBy(principal, request), done));
  });
  api.addHook("preValidation", async (request) => {
    if (request.principal?.limits !== null && request.principal !== null) await requireWithin(deps, request);
  });
  api.addHook("onResponse", async (request) => ENDS.get(request)?.end());
  // What the store does not record itself.
  api.addHook("onSend", async (request, reply, payload) => {
    const { audit } = request.routeOptions.config;
    if (audit !== undefined && UNSAFE_METHODS.has(request.method) && reply.statusCode < 300)
      await deps.store.recordAudit(audit, objectOf(audit, request)).catch((error: unknown) => {
        // The change is made: an error now would make the caller repeat it.
        deps.log.error("an entry of the audit log could not be written", { action: audit, error: messageOf(error) });
      });
    return payload;
  });
  // After the audit log: the change was made.
  refuseLateAnswers(api, deps);
}

function objectOf(action: string, { params }: ApiRequest): { kind: string; id: string | null } {
  const [kind = ""] = action.split(".");
  const [id = null] = Object.values((params ?? {}) as Record<string, string>);
  return { kind, id };
}

/** The store finds only what is within the limits of the key; this covers calls that do not read the object itself. */
async function requireWithin({ store }: ApiDeps, request: ApiRequest): Promise<void> {
  const params = (request.params ?? {}) as Record<string, string>;
  const run =
    params["run_id"] ?? params["workflow_id"] ?? (params["job_id"] === undefined ? params["task_id"] : undefined);
  const found = async (what: "run" | "job", id: string) => {
    if ((await store[what](id)) === null) throw new OrbError("not_found", `there is no ${what} with the id ${id}`);
  };
  if (run !== undefined) await found("run", run);
  if (params["job_id"] !== undefined) await found("job", params["job_id"]);
}
