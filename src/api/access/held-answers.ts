/** Answers that outlive their handler: they read as the caller, and end when its key is revoked, expires or changes. */
import { Readable } from "node:stream";
import { asCaller, type Caller } from "../../domain/access/caller.ts";
import type { Principal } from "../../domain/access/principal.ts";
import type { ApiDeps } from "../deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "../instance.ts";
import { mayGoOn, untilRevoked } from "../auth.ts";
import { ApiProblem } from "../problems.ts";
import { RECHECK_MS } from "./keys.ts";

export function callerBy({ kind, id, name, limits }: Principal, request: Pick<ApiRequest, "id" | "callerIp">): Caller {
  return { actor: { kind, id, name }, limits, ip: request.callerIp, requestId: request.id };
}

/** Each value is made for the caller and within its limits, also when something else asks for it, such as a socket that drained. */
export function madeFor<T>(request: ApiRequest, values: AsyncIterable<T>): AsyncIterable<T> {
  const { principal } = request;
  if (principal === null) return values;
  const caller = callerBy(principal, request);
  return {
    [Symbol.asyncIterator]() {
      const source = asCaller(caller, () => values[Symbol.asyncIterator]());
      return {
        next: () => asCaller(caller, () => source.next()),
        return: () =>
          asCaller(caller, async () => (await source.return?.()) ?? { done: true as const, value: undefined }),
      };
    },
  };
}

/** A file, an export: cut off when the caller may no longer read it. */
export function sendBytes(
  request: ApiRequest,
  reply: ApiReply,
  deps: Pick<ApiDeps, "clock" | "store">,
  bytes: Readable | AsyncIterable<Uint8Array | string>,
): ApiReply {
  const stream = bytes instanceof Readable ? bytes : Readable.from(madeFor(request, bytes));
  // Not only the stream, which first waits for what it is reading.
  const stop = untilRevoked(request, deps, RECHECK_MS, () => reply.raw.destroy());
  reply.raw.once("close", stop);
  return reply.send(stream);
}

const BEGAN = new WeakMap<ApiRequest, number>();
/** Changes and deletions wait for nothing, and what a key does to itself is answered. */
const MAY_WAIT: ReadonlySet<string> = new Set(["GET", "POST"]);

/** A call may wait for a page longer than its key is valid: the answer is refused then. What it started goes on. */
export function refuseLateAnswers(api: ApiInstance, deps: Pick<ApiDeps, "clock" | "store">): void {
  const { clock } = deps;
  api.addHook("onRequest", async (request) => {
    if (request.principal !== null && MAY_WAIT.has(request.method)) BEGAN.set(request, clock.monotonic());
  });
  api.addHook("onSend", async (request, reply, payload) => {
    const began = BEGAN.get(request);
    const isLate = began !== undefined && clock.monotonic() - began >= RECHECK_MS;
    if (!isLate || reply.statusCode >= 400 || (await mayGoOn(request, deps))) return payload;
    if (payload instanceof Readable) payload.destroy();
    const isPerson = request.principal?.kind === "person";
    const why = isPerson ? "the session has ended" : "the key was revoked or changed, or has expired";
    throw new ApiProblem("unauthorized", `${why} while the call waited`, {
      headers: { "www-authenticate": 'Bearer realm="orb", error="invalid_token"' },
    });
  });
}
