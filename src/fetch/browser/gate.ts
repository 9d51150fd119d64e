import type { BrowserContext, CDPSession, Page } from "playwright-core";
import type { ProxyGuest } from "../../net/proxy-guest.ts";

/** A request that the browser holds back until it is told what to do with it. */
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
  onRequest(held: HeldRequest): Verdict;
  onResponse(held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict>;
}

export interface GateOptions {
  /** Sent with requests of exactly this origin. The proxy does it for plain origins; encrypted ones it cannot read. */
  bound?: { origin: string; headers: Readonly<Record<string, string>> };
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
  resourceType?: "Document" | "Image" | "Font" | "Media";
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
  const bound = options.bound?.origin.startsWith("https:") === true ? options.bound : undefined;
  const asked = new Set<string>();
  // The page may close at any moment, and takes its session along.
  const tell = (method: "Fetch.continueRequest" | "Fetch.failRequest", params: object) =>
    void session.send(method, params as never).catch(() => {});
  const obey = (held: HeldRequest, verdict: Verdict, headers?: { name: string; value: string }[]) => {
    const { requestId } = held;
    if (verdict === "abort") tell("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    else tell("Fetch.continueRequest", headers === undefined ? { requestId } : { requestId, headers });
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
      if (typeof verdict === "string") obey(held, verdict);
      else
        verdict.then(
          (decided) => obey(held, decided),
          () => obey(held, "abort"),
        );
      return;
    }
    const heavy = HEAVY.some((type) => type === held.resourceType);
    if (heavy && options.blockResources === true) return obey(held, "abort");
    const verdict = held.resourceType === "Document" ? (documents?.onRequest(held) ?? "continue") : "continue";
    return obey(held, verdict, bound === undefined ? undefined : boundHeaders(held, bound));
  });

  const patterns: Pattern[] = [{ urlPattern: "*", resourceType: "Document", requestStage: "Request" }];
  if (documents !== undefined) patterns.push({ urlPattern: "*", resourceType: "Document", requestStage: "Response" });
  if (bound !== undefined) patterns.push({ urlPattern: "*", requestStage: "Request" });
  else if (options.blockResources === true)
    for (const resourceType of HEAVY) patterns.push({ urlPattern: "*", resourceType, requestStage: "Request" });
  await session.send("Fetch.enable", { handleAuthRequests: true, patterns });
  return {
    session,
    watch: (next) => {
      documents = next;
    },
  };
}

/** Chromium sends changed headers on to where a redirect leads: elsewhere they are taken out again. */
function boundHeaders(
  held: HeldRequest,
  bound: { origin: string; headers: Readonly<Record<string, string>> },
): { name: string; value: string }[] | undefined {
  const ours = new Map(Object.entries(bound.headers).map(([name, value]) => [name.toLowerCase(), value]));
  const here = URL.parse(held.request.url)?.origin === bound.origin;
  if (!here && held.redirectedRequestId === undefined) return undefined;
  const kept = Object.entries(held.request.headers).filter(([name]) => !ours.has(name.toLowerCase()));
  return [...kept, ...(here ? ours : [])].map(([name, value]) => ({ name, value }));
}
