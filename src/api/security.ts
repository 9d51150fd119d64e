/** Protects the API from other web sites, other hosts and foreign frames. */
import { isLoopback } from "../config/loopback.ts";
import type { ApiDeps, ApiLimits } from "./deps.ts";
import { type ApiInstance, type ApiReply, type ApiRequest, UNSAFE_METHODS } from "./instance.ts";
import { ApiProblem } from "./problems.ts";

const DATA_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox";

/** Pages load only what this server serves, and nothing inline. */
const pagePolicy = (base: "'self'" | "'none'", more: { images?: string; frames?: string } = {}) =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self' data:${more.images ?? ""}`,
    "font-src 'self'",
    "connect-src 'self'",
    ...(more.frames === undefined ? [] : [`frame-src ${more.frames}`]),
    `base-uri ${base}`,
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join("; ");

/** For pages that show third-party HTML: an opaque origin without cookies or network, and only our script. */
const FRAME_POLICY = [
  "sandbox allow-scripts",
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'unsafe-inline'",
  "img-src data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join("; ");

/** A worker has the policy of its own file: ours connects to this server only. */
const FILE_POLICY =
  "default-src 'none'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const POLICIES = {
  data: DATA_POLICY,
  page: pagePolicy("'none'"),
  based: pagePolicy("'self'"),
  dashboard: pagePolicy("'none'", { images: " blob:", frames: "'self'" }),
  frame: FRAME_POLICY,
  file: FILE_POLICY,
};

export function securityHeaders(kind: keyof typeof POLICIES): Record<string, string> {
  return {
    "content-security-policy": POLICIES[kind],
    "x-content-type-options": "nosniff",
    "x-frame-options": kind === "frame" ? "SAMEORIGIN" : "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
  };
}

/**
 * Host names that a loopback server accepts; a name that an attacker points at 127.0.0.1 is not among them (DNS
 * rebinding).
 */
function allowedHosts(host: string, port: number, publicUrl: string | null): ReadonlySet<string> {
  const names = ["localhost", "127.0.0.1", "[::1]", host.includes(":") ? `[${host}]` : host.toLowerCase()];
  // Clients omit HTTP's default port.
  const own = names.flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
  // Of a proxy on this machine; the operator owns that name.
  return new Set(publicUrl === null ? own : [...own, new URL(publicUrl).host]);
}

/** Checks in the order that reveals least. `port` is known once the server listens. */
export function guardRequests(api: ApiInstance, deps: ApiDeps, limits: ApiLimits, port: () => number): void {
  const { host, token, publicUrl = null } = deps.settings;
  const local = isLoopback(host);
  // Without a token, a proxy on this machine must not open the server to others.
  const publicName = token === null ? null : publicUrl;
  api.addHook("onRequest", async (request, reply) => {
    const { page } = request.routeOptions.config;
    reply.headers(securityHeaders(page === true ? "page" : (page ?? "data")));
    if (request.url.length > limits.urlLength)
      throw new ApiProblem("url_too_long", `the URL is longer than ${limits.urlLength} characters`);
    requireOneHost(request);
    if (local) requireKnownHost(request, allowedHosts(host, port(), publicName));
    if (UNSAFE_METHODS.has(request.method)) refuseOtherSites(request);
  });
}

/** RFC 9112, 3.2: a proxy before us might have used the other one. */
function requireOneHost({ raw }: ApiRequest): void {
  const names = raw.rawHeaders.filter((name, index) => index % 2 === 0 && name.toLowerCase() === "host");
  if (names.length > 1) throw new ApiProblem("request_malformed", "the request has more than one Host header");
}

function requireKnownHost(request: ApiRequest, allowed: ReadonlySet<string>): void {
  const host = request.headers.host?.toLowerCase() ?? "";
  if (!allowed.has(host))
    throw new ApiProblem(
      "host_not_allowed",
      `the Host header is ${host === "" ? "missing" : `"${host.slice(0, 200)}"`}; this server accepts only its own names, such as localhost and 127.0.0.1, with its port`,
    );
}

/** Whether the request declares that a page of this server made it. */
export function isSameOrigin({ headers }: ApiRequest): boolean {
  if (headers.origin !== undefined) return hostOf(headers.origin) === headers.host?.toLowerCase();
  return headers["sec-fetch-site"] === "same-origin";
}

/** Whether the caller uses TLS, by the proxy's headers or by the origin of our calling page. */
export function isSecure(request: ApiRequest): boolean {
  const { origin, "x-forwarded-proto": forwardedProto } = request.headers;
  const [scheme = request.protocol] = [forwardedProto ?? []].flat().flatMap((text) => text.split(","));
  return scheme.trim() === "https" || (origin?.startsWith("https://") === true && isSameOrigin(request));
}

function refuseOtherSites(request: ApiRequest): void {
  const { origin, "sec-fetch-site": site } = request.headers;
  const foreignSite = site !== undefined && site !== "same-origin" && site !== "none";
  if (foreignSite || (origin !== undefined && !isSameOrigin(request)))
    throw new ApiProblem("forbidden_origin", "a page of another web site may not make changes here");
}

/** Ignores the scheme: behind a TLS proxy it differs from ours. */
function hostOf(origin: string): string | null {
  return URL.parse(origin)?.host ?? null;
}

/** For responses sent before any hook runs. */
export function setSecurityHeaders(reply: ApiReply): void {
  reply.headers(securityHeaders("data"));
}
