/** Turns every error into a problem response. */
import { STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { tooLarge } from "./body.ts";
import type { ApiDeps } from "./deps.ts";
import type { ApiInstance, ApiReply, ApiRequest } from "./instance.ts";
import { answerTo, ApiProblem } from "./problems.ts";
import { PROBLEM_TYPE } from "./schemas.ts";
import { securityHeaders } from "./security.ts";
import { withRules } from "./validation.ts";

/** Sends the problem for an error; unexpected errors are logged with their id. */
export function sendProblem(error: unknown, request: ApiRequest, reply: ApiReply, { log }: Pick<ApiDeps, "log">): void {
  const { problem, headers, unforeseen } = answerTo(withAll(error, request), request.id);
  // The client disconnected: that aborts the request and is not a server error.
  const isGone = reply.raw.destroyed && error instanceof Error && error.name === "AbortError";
  if (unforeseen && !isGone) {
    const stack = error instanceof Error ? error.stack : String(error);
    log.error("a call failed", {
      error_id: request.id,
      method: request.method,
      route: request.routeOptions.url,
      stack,
    });
  }
  reply
    .code(problem.status)
    .headers(headers)
    .header("content-type", PROBLEM_TYPE)
    // Sent as a string: the schema of the route must not strip or add members.
    .send(JSON.stringify(problem));
}

/** Adds what only the route knows: the body limit, and further errors of the body. */
function withAll(error: unknown, { routeOptions, body }: ApiRequest): unknown {
  const isTooLarge = (error as { code?: unknown } | null)?.code === "FST_ERR_CTP_BODY_TOO_LARGE";
  if (isTooLarge) return new ApiProblem("body_too_large", tooLarge(routeOptions.bodyLimit));
  return withRules(error, body, routeOptions.config?.rules);
}

export function answerProblems(api: ApiInstance, deps: ApiDeps): void {
  const methods = new RouteMethods();
  api.addHook("onRoute", (route) => {
    // The dashboard answers at any path; only API routes count as methods of a path.
    if (route.config?.page !== "dashboard") methods.add(route.url, [route.method].flat());
  });
  api.setErrorHandler((error, request, reply) => sendProblem(error, request, reply, deps));
  api.setNotFoundHandler((request, reply) => {
    const [path = ""] = request.url.split("?", 1);
    const allowed = methods.of(path);
    const problem =
      allowed.length === 0
        ? new ApiProblem("route_not_found", "there is no such route")
        : new ApiProblem("method_not_allowed", methods.words(path, request.method), {
            headers: { allow: allowed.join(", ") },
          });
    sendProblem(problem, request, reply, deps);
  });
}

/** The methods of each path: the router only knows that the requested one is missing. */
class RouteMethods {
  readonly #routes = new Map<string, { pattern: RegExp; methods: Set<string> }>();

  add(url: string, methods: readonly string[]): void {
    const known = this.#routes.get(url) ?? { pattern: patternOf(url), methods: new Set() };
    for (const method of methods) known.methods.add(method);
    this.#routes.set(url, known);
  }

  of(path: string): string[] {
    const found = [...this.#routes.values()].filter(({ pattern }) => pattern.test(path));
    return [...new Set(found.flatMap(({ methods }) => [...methods]))].toSorted();
  }

  words(path: string, method: string): string {
    const near = method === "POST" ? this.#near(path, method).map((address) => `${method} ${address}`) : [];
    const elsewhere = near.length === 0 ? "" : `; did you mean ${near.join(" or ")}?`;
    return `this route supports ${this.of(path).join(", ")}${elsewhere}`;
  }

  /** Suggestions for a mistyped path: its parent and siblings that support the method. */
  #near(path: string, method: string): string[] {
    const [above] = splitLast(path);
    if (above === "") return [];
    const known = [...this.#routes].flatMap(([url, { methods }]) => (methods.has(method) ? [url] : []));
    const neighbours = known.flatMap((url) => {
      const [folder, name] = splitLast(url);
      return /^[:*]/.test(name) || !patternOf(folder).test(above) ? [] : [`${above}/${name}`];
    });
    return [...known.filter((url) => url === above), ...neighbours.toSorted()].slice(0, MOST_NEAR);
  }
}

const MOST_NEAR = 3;

function splitLast(path: string): [folder: string, name: string] {
  const cut = path.lastIndexOf("/");
  return [path.slice(0, cut), path.slice(cut + 1)];
}

/** Matches the paths of a route. */
export function patternOf(url: string): RegExp {
  const parts = url.split("/").map((part) => {
    if (part.startsWith(":")) return "[^/]+";
    return part === "*" ? ".*" : part.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
  });
  return new RegExp(`^${parts.join("/")}$`);
}

/** Answers input that is not valid HTTP, then closes the connection. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === "ECONNRESET" || socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const broken =
    error.code === "HPE_HEADER_OVERFLOW"
      ? new ApiProblem("headers_too_large", "the headers have more than 16 KiB")
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? new ApiProblem("request_timeout", "the request took too long to arrive")
        : new ApiProblem("request_malformed", "the request is not HTTP/1.1");
  const { problem } = answerTo(broken, "");
  const body = JSON.stringify(problem);
  const headers = {
    ...securityHeaders("data"),
    "content-type": PROBLEM_TYPE,
    "content-length": String(Buffer.byteLength(body)),
    connection: "close",
  };
  const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status]}\r\n${head.join("")}\r\n${body}`, () =>
    socket.destroy(),
  );
}
