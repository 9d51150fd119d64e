import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { type Bound, sharesCookies, withoutBoundCookies } from "../../net/bound.ts";
import type { ProxyGuest } from "../../net/proxy-guest.ts";

/** A request that the browser pauses until it is continued or aborted. */
export interface HeldRequest {
  requestId: string;
  frameId: string;
  resourceType: string;
  request: { url: string; method: string; headers: Record<string, string> };
  /** Present once there is a response. */
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
  responseErrorReason?: string;
  /** The request that redirected to this one. */
  redirectedRequestId?: string;
}

export type Verdict = "continue" | "abort";

/** Intercepts the documents of a page and its frames, before the request and before the body. */
export interface DocumentWatch {
  onRequest(held: HeldRequest): Verdict | Promise<Verdict>;
  onResponse(held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict>;
}

interface GateOptions {
  /** Enforced here for encrypted requests; the proxy does it for plain ones. */
  bound?: Bound;
  blockResources?: boolean;
  documents?: DocumentWatch;
  /** The page connects without the proxy: `bound` is enforced here for plain requests, too. */
  direct?: boolean;
}

export interface Gate {
  session: CDPSession;
  /** Replaces the watcher: a reused page has one per visit. */
  watch(documents: DocumentWatch): void;
}

interface Pattern {
  urlPattern: string;
  resourceType?: "Document" | "Image" | "Font" | "Media" | "Other";
  requestStage: "Request" | "Response";
}

const HEAVY = ["Image", "Font", "Media"] as const;

/**
 * Intercepts the requests of a page. Authenticates its context at the proxy (with the first document; the browser then
 * remembers), adds credentials, and blocks unwanted resources. Playwright's own features do not fit: its proxy password
 * and its routes pause every request, its extra headers go to every origin, and its routes send changed headers on to
 * redirect targets.
 */
export async function openGate(
  context: BrowserContext,
  page: Page,
  guest: ProxyGuest,
  options: GateOptions,
): Promise<Gate> {
  const session = await context.newCDPSession(page);
  let documents = options.documents;
  const { bound, direct = false } = options;
  const challenged = new Set<string>();
  // The page and its session may close at any moment.
  const send = (method: "Fetch.continueRequest" | "Fetch.failRequest", params: object) =>
    void session.send(method, params as never).catch(() => {});
  const apply = (held: HeldRequest, verdict: Verdict, headers?: { name: string; value: string }[]) => {
    const { requestId } = held;
    if (verdict === "abort") send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    else send("Fetch.continueRequest", headers === undefined ? { requestId } : { requestId, headers });
  };

  const applyWhenDecided = (
    held: HeldRequest,
    verdict: Verdict | Promise<Verdict>,
    headers?: { name: string; value: string }[],
  ) => {
    if (typeof verdict === "string") return apply(held, verdict, headers);
    verdict.then(
      (decided) => apply(held, decided, headers),
      () => apply(held, "abort"),
    );
  };

  session.on("Fetch.authRequired", ({ requestId, authChallenge }) => {
    // A second proxy challenge means that the context has ended. Challenges of sites are cancelled, which shows their 401.
    const isFirstProxyChallenge = authChallenge.source === "Proxy" && !challenged.has(requestId);
    challenged.add(requestId);
    const authChallengeResponse = isFirstProxyChallenge
      ? { response: "ProvideCredentials" as const, username: guest.id, password: guest.password }
      : { response: "CancelAuth" as const };
    session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(() => {});
  });
  session.on("Fetch.requestPaused", (event) => {
    const held = event as HeldRequest;
    const isAnswer = held.responseStatusCode !== undefined || held.responseErrorReason !== undefined;
    if (isAnswer) {
      const verdict = documents?.onResponse(held, session) ?? "continue";
      return applyWhenDecided(held, verdict);
    }
    if (isIcon(held)) return apply(held, "abort");
    const isHeavy = HEAVY.some((type) => type === held.resourceType);
    if (isHeavy && options.blockResources === true) return apply(held, "abort");
    const verdict = held.resourceType === "Document" ? (documents?.onRequest(held) ?? "continue") : "continue";
    return applyWhenDecided(held, verdict, bound === undefined ? undefined : boundHeaders(held, bound, guest, direct));
  });

  const patterns: Pattern[] = [
    { urlPattern: "*", resourceType: "Document", requestStage: "Request" },
    { urlPattern: "*", resourceType: "Other", requestStage: "Request" },
  ];
  if (documents !== undefined) patterns.push({ urlPattern: "*", resourceType: "Document", requestStage: "Response" });
  const inspectedUrls = bound === undefined ? null : visibleCookieUrls(bound, direct);
  if (inspectedUrls !== null) patterns.push({ urlPattern: inspectedUrls, requestStage: "Request" });
  if (inspectedUrls !== "*" && options.blockResources === true)
    for (const resourceType of HEAVY) patterns.push({ urlPattern: "*", resourceType, requestStage: "Request" });
  await session.send("Fetch.enable", { handleAuthRequests: true, patterns });
  return {
    session,
    watch: (next) => {
      documents = next;
    },
  };
}

/** The favicon, which the browser requests by itself: an unnecessary request to the site. */
function isIcon({ resourceType, request }: HeldRequest): boolean {
  const accept = Object.entries(request.headers).find(([name]) => name.toLowerCase() === "accept")?.[1] ?? "";
  return resourceType === "Other" && accept.startsWith("image/");
}

/** URL pattern of the encrypted requests to intercept; as few as possible, since each one pauses. */
function visibleCookieUrls(bound: Bound, direct: boolean): string | null {
  const { protocol, hostname } = new URL(bound.origin);
  if ((direct || protocol === "https:") && Object.keys(bound.headers).length > 0) return "*";
  return bound.cookies.size > 0 ? `${direct ? "http*" : "https"}://${hostname}*` : null;
}

/** Chromium sends changed headers on to redirect targets: they are removed there. It looks up cookies per URL itself. */
function boundHeaders(
  held: HeldRequest,
  bound: Bound,
  guest: ProxyGuest,
  direct: boolean,
): { name: string; value: string }[] | undefined {
  const url = URL.parse(held.request.url);
  if (url === null) return undefined;
  const added = direct || bound.origin.startsWith("https:") ? Object.entries(bound.headers) : [];
  const addedByName = new Map(added.map(([name, value]) => [name.toLowerCase(), value]));
  const isBoundOrigin = url.origin === bound.origin;
  const hasSharedCookies = (direct || url.protocol === "https:") && sharesCookies(bound, url);
  if (hasSharedCookies) guest.allowTunnel(url.host);
  const changes = addedByName.size > 0 && (isBoundOrigin || held.redirectedRequestId !== undefined);
  if (!changes && !hasSharedCookies) return undefined;
  const kept = Object.entries(held.request.headers)
    .filter(([name]) => !addedByName.has(name.toLowerCase()))
    // An empty value sends no cookies; without the header the browser would fill it in.
    .map(
      ([name, value]) =>
        [name, hasSharedCookies && isCookie(name) ? withoutBoundCookies(value, bound) : value] as const,
    );
  return [...kept, ...(isBoundOrigin ? addedByName : [])].map(([name, value]) => ({ name, value }));
}

const isCookie = (name: string) => name.toLowerCase() === "cookie";
