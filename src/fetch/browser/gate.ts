import type { BrowserContext, CDPSession, Page } from "playwright-core";
import { type Bound, sharesCookies, withoutBoundCookies } from "../../net/bound.ts";
import type { ProxyGuest } from "../../net/proxy-guest.ts";

/** A request that the browser holds until it is continued or aborted. */
export interface HeldRequest {
  requestId: string;
  frameId: string;
  resourceType: string;
  request: { url: string; method: string; headers: Record<string, string> };
  /** Present once there is an answer. */
  responseStatusCode?: number;
  responseHeaders?: { name: string; value: string }[];
  responseErrorReason?: string;
  /** The request that was answered with a redirect to this one. */
  redirectedRequestId?: string;
}

export type Verdict = "continue" | "abort";

/** Sees the documents of a page and of its frames, before they are asked for and before they are read. */
export interface DocumentWatch {
  onRequest(held: HeldRequest): Verdict | Promise<Verdict>;
  onResponse(held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict>;
}

interface GateOptions {
  /** Kept to its origin. The proxy does it in plain requests; encrypted ones it cannot read. */
  bound?: Bound;
  blockResources?: boolean;
  documents?: DocumentWatch;
}

export interface Gate {
  session: CDPSession;
  /** From now on the documents are seen by this one; a page that is used again has one for each visit. */
  watch(documents: DocumentWatch): void;
}

interface Pattern {
  urlPattern: string;
  resourceType?: "Document" | "Image" | "Font" | "Media" | "Other";
  requestStage: "Request" | "Response";
}

const HEAVY = ["Image", "Font", "Media"] as const;

/**
 * Stands between a page and its requests. It signs the page's context in at the proxy (with the first document; the
 * browser then remembers), adds credentials, and leaves out what is not wanted. Playwright has ways of its own for all
 * three, but its proxy password and its routes hold back every single request, its extra headers go to every origin,
 * and its routes carry changed headers along to wherever a redirect leads.
 */
export async function openGate(
  context: BrowserContext,
  page: Page,
  guest: ProxyGuest,
  options: GateOptions,
): Promise<Gate> {
  const session = await context.newCDPSession(page);
  let documents = options.documents;
  const { bound } = options;
  const asked = new Set<string>();
  // The page may close at any moment, and takes its session along.
  const send = (method: "Fetch.continueRequest" | "Fetch.failRequest", params: object) =>
    void session.send(method, params as never).catch(() => {});
  const obey = (held: HeldRequest, verdict: Verdict, headers?: { name: string; value: string }[]) => {
    const { requestId } = held;
    if (verdict === "abort") send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    else send("Fetch.continueRequest", headers === undefined ? { requestId } : { requestId, headers });
  };

  const obeySoon = (
    held: HeldRequest,
    verdict: Verdict | Promise<Verdict>,
    headers?: { name: string; value: string }[],
  ) => {
    if (typeof verdict === "string") return obey(held, verdict, headers);
    verdict.then(
      (decided) => obey(held, decided, headers),
      () => obey(held, "abort"),
    );
  };

  session.on("Fetch.authRequired", ({ requestId, authChallenge }) => {
    // Asked twice means refused: the context has ended. A site's own question goes unanswered, and its 401 is shown.
    const known = authChallenge.source === "Proxy" && !asked.has(requestId);
    asked.add(requestId);
    const authChallengeResponse = known
      ? { response: "ProvideCredentials" as const, username: guest.id, password: guest.password }
      : { response: "CancelAuth" as const };
    session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(() => {});
  });
  session.on("Fetch.requestPaused", (event) => {
    const held = event as HeldRequest;
    const isAnswer = held.responseStatusCode !== undefined || held.responseErrorReason !== undefined;
    if (isAnswer) {
      const verdict = documents?.onResponse(held, session) ?? "continue";
      return obeySoon(held, verdict);
    }
    if (isIcon(held)) return obey(held, "abort");
    const heavy = HEAVY.some((type) => type === held.resourceType);
    if (heavy && options.blockResources === true) return obey(held, "abort");
    const verdict = held.resourceType === "Document" ? (documents?.onRequest(held) ?? "continue") : "continue";
    return obeySoon(held, verdict, bound === undefined ? undefined : boundHeaders(held, bound, guest));
  });

  const patterns: Pattern[] = [
    { urlPattern: "*", resourceType: "Document", requestStage: "Request" },
    { urlPattern: "*", resourceType: "Other", requestStage: "Request" },
  ];
  if (documents !== undefined) patterns.push({ urlPattern: "*", resourceType: "Document", requestStage: "Response" });
  const seen = bound === undefined ? null : visibleCookieUrls(bound);
  if (seen !== null) patterns.push({ urlPattern: seen, requestStage: "Request" });
  if (seen !== "*" && options.blockResources === true)
    for (const resourceType of HEAVY) patterns.push({ urlPattern: "*", resourceType, requestStage: "Request" });
  await session.send("Fetch.enable", { handleAuthRequests: true, patterns });
  return {
    session,
    watch: (next) => {
      documents = next;
    },
  };
}

/** The icon of a tab that nobody sees: the browser asks for it by itself, and sites need not answer for that. */
function isIcon({ resourceType, request }: HeldRequest): boolean {
  const accept = Object.entries(request.headers).find(([name]) => name.toLowerCase() === "accept")?.[1] ?? "";
  return resourceType === "Other" && accept.startsWith("image/");
}

/** Which encrypted requests must be looked at; no more than needed, since each of them waits for us. */
function visibleCookieUrls(bound: Bound): string | null {
  const { protocol, hostname } = new URL(bound.origin);
  if (protocol === "https:" && Object.keys(bound.headers).length > 0) return "*";
  return bound.cookies.size > 0 ? `https://${hostname}*` : null;
}

/**
 * Chromium sends changed headers on to where a redirect leads: elsewhere they are taken out again. Cookies it looks up
 * anew for every address.
 */
function boundHeaders(
  held: HeldRequest,
  bound: Bound,
  guest: ProxyGuest,
): { name: string; value: string }[] | undefined {
  const url = URL.parse(held.request.url);
  if (url === null) return undefined;
  const added = bound.origin.startsWith("https:") ? Object.entries(bound.headers) : [];
  const ours = new Map(added.map(([name, value]) => [name.toLowerCase(), value]));
  const here = url.origin === bound.origin;
  const shared = url.protocol === "https:" && sharesCookies(bound, url);
  if (shared) guest.vouchFor(url.host);
  const changes = ours.size > 0 && (here || held.redirectedRequestId !== undefined);
  if (!changes && !shared) return undefined;
  const kept = Object.entries(held.request.headers)
    .filter(([name]) => !ours.has(name.toLowerCase()))
    // An empty value says that there are no cookies; without the header the browser would fill it in itself.
    .map(([name, value]) => [name, shared && isCookie(name) ? withoutBoundCookies(value, bound) : value] as const);
  return [...kept, ...(here ? ours : [])].map(([name, value]) => ({ name, value }));
}

const isCookie = (name: string) => name.toLowerCase() === "cookie";
