import type { CDPSession } from "playwright-core";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import type { Redirect } from "../../net/http.ts";
import { FAILURE_HEADER } from "../../net/proxy-forward.ts";
import { isRedirect, redirectTarget } from "../../net/redirect.ts";
import type { DocumentWatch, HeldRequest, Verdict } from "./gate.ts";

interface DocumentHead {
  status: number;
  /** Lower-case names. */
  headers: Record<string, string>;
  contentType: string | null;
  url: string;
}

interface DocumentRules {
  policy: AddressPolicy;
  maxBodyBytes: number;
  followRedirects?: (from: URL, to: URL) => boolean;
  /** Awaited before a redirect or a scripted navigation is followed. */
  beforeRedirect?: (to: URL) => Promise<void>;
  /** Marks responses of the proxy itself. */
  guestId: string;
  /** Why the proxy could not reach this host. */
  proxyFailure: (host: string) => FetchFailure | null;
}

/**
 * Tracks the main document: its redirects, its head, and its bytes when it is not HTML. Aborts forbidden navigations
 * and records the reason.
 */
export class MainDocument implements DocumentWatch {
  readonly redirects: Redirect[] = [];
  /** The head of the current document, or of the one that ended the navigation. */
  head: DocumentHead | null = null;
  /** The body of a document that is not HTML. */
  body: Buffer | null = null;
  /** Requests for the main document. */
  requests = 0;
  notFollowed: string | null = null;
  /** What ended the navigation, including any error of `followRedirects` or `beforeRedirect`. */
  failure: unknown = null;
  /** Why the last navigation away was blocked. */
  refusal: FetchFailure | null = null;
  /** Resolves when a navigation away was blocked: Chromium then never reports the document as complete. */
  readonly kept: Promise<void>;
  readonly #resolveKept: () => void;
  readonly #rules: DocumentRules;
  #frame: string | null = null;

  constructor(rules: DocumentRules) {
    this.#rules = rules;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.kept = promise;
    this.#resolveKept = resolve;
  }

  onRequest(held: HeldRequest): Verdict | Promise<Verdict> {
    // The first document request of a new page is its main document.
    this.#frame ??= held.frameId;
    if (held.frameId !== this.#frame || this.head === null || held.redirectedRequestId !== undefined) return "continue";
    // A script, a form or a refresh navigates away from the current document. A forbidden target is not requested, and
    // the page stays. Reloading the same URL is allowed: that is how challenges end.
    const from = URL.parse(this.head.url);
    const to = URL.parse(held.request.url);
    if (from === null || to === null || from.href.split("#")[0] === to.href.split("#")[0]) return "continue";
    try {
      checkUrl(to, this.#rules.policy);
      if (this.#rules.followRedirects?.(from, to) !== false) return this.#follow(to);
      return this.#blockNavigation(notFollowedHere());
    } catch (error) {
      return this.#blockNavigation(error);
    }
  }

  onResponse(held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict> {
    if (held.frameId !== this.#frame) return "continue";
    this.requests += 1;
    if (held.responseStatusCode === undefined) return "continue";
    try {
      const head = headOf(held);
      if (head.headers[FAILURE_HEADER] === this.#rules.guestId) throw this.#proxyFailure(held.request.url);
      if (isRedirect(head.status) && head.headers["location"] !== undefined) return this.#redirect(head);
      return this.#receive(head, held, session);
    } catch (error) {
      // The current document stays when its successor fails.
      if (this.head !== null) return this.#blockNavigation(error);
      this.failure = error;
      return "abort";
    }
  }

  #blockNavigation(why?: unknown): Verdict {
    if (why instanceof FetchFailure) this.refusal = why;
    this.#resolveKept();
    return "abort";
  }

  /** Continues after `beforeRedirect`; its error ends the navigation and is recorded. */
  #follow(to: URL): Verdict | Promise<Verdict> {
    const { beforeRedirect } = this.#rules;
    if (beforeRedirect === undefined) return "continue";
    return beforeRedirect(to).then(
      () => "continue",
      (error: unknown) => {
        this.failure = error;
        return this.#blockNavigation();
      },
    );
  }

  #redirect(head: DocumentHead): Verdict | Promise<Verdict> {
    const from = new URL(head.url);
    const to = redirectTarget(head.headers["location"], from);
    checkUrl(to, this.#rules.policy);
    to.username = "";
    to.password = "";
    const [target = ""] = to.href.split("#");
    if (this.#rules.followRedirects?.(from, to) === false) {
      if (this.head !== null) return this.#blockNavigation(notFollowedHere());
      this.notFollowed = target;
      this.head = head;
      return "abort";
    }
    this.redirects.push({ status: head.status, from: head.url, to: target });
    return this.#follow(to);
  }

  #receive(head: DocumentHead, held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict> {
    const { maxBodyBytes } = this.#rules;
    if (Number(head.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    if (head.status === 204 || head.status === 205) {
      if (this.head !== null) return this.#blockNavigation();
      this.head = head;
      this.body = Buffer.alloc(0);
      return "abort";
    }
    const kind = kindOf(head);
    if (kind === "page") {
      this.head = head;
      return "continue";
    }
    if (kind === "file")
      throw new FetchFailure("not_html", `the URL leads to a file (${head.contentType ?? "download"}), not to a page`, {
        httpStatus: head.status,
      });
    this.head = head;
    return readBody(session, held.requestId, maxBodyBytes).then(
      (body) => {
        this.body = body;
        return this.#blockNavigation();
      },
      (error: unknown) => {
        this.failure =
          error instanceof FetchFailure
            ? error
            : new FetchFailure("truncated_body", "the body could not be read completely", { cause: error });
        return this.#blockNavigation();
      },
    );
  }

  #proxyFailure(url: string): FetchFailure {
    const known = this.#rules.proxyFailure(URL.parse(url)?.host ?? "");
    return known ?? new FetchFailure("connection_failed", "the site could not be reached");
  }
}

function notFollowedHere(): FetchFailure {
  return new FetchFailure("action_failed", "it leads to a URL that this run does not follow");
}

function headOf(held: HeldRequest): DocumentHead {
  const headers: Record<string, string> = {};
  for (const { name, value } of held.responseHeaders ?? []) {
    const key = name.toLowerCase();
    if (key === "set-cookie") continue;
    headers[key] = headers[key] === undefined ? value : `${headers[key]}, ${value}`;
  }
  return {
    status: held.responseStatusCode ?? 0,
    headers,
    contentType: headers["content-type"] ?? null,
    url: held.request.url.split("#")[0]!,
  };
}

const PLAIN =
  /^(?:text\/|application\/(?:json|xml|javascript|x-javascript|ecmascript|x-ndjson|yaml|x-yaml)$|[^;]*\+(?:json|xml)$)/;

function kindOf(head: DocumentHead): "page" | "text" | "file" {
  if (/^\s*attachment/i.test(head.headers["content-disposition"] ?? "")) return "file";
  const type = (head.contentType ?? "").split(/[;,]/)[0]!.trim().toLowerCase();
  // Without a type Chromium sniffs; most such documents are HTML.
  if (type === "" || type === "text/html" || type === "application/xhtml+xml") return "page";
  return PLAIN.test(type) ? "text" : "file";
}

/** Reads in chunks, so that an endless body cannot fill the memory. */
async function readBody(session: CDPSession, requestId: string, maxBodyBytes: number): Promise<Buffer> {
  const { stream } = await session.send("Fetch.takeResponseBodyAsStream", { requestId });
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for (;;) {
      const piece = await session.send("IO.read", { handle: stream, size: 256 * 1024 });
      const chunk = Buffer.from(piece.data, piece.base64Encoded === true ? "base64" : "utf8");
      size += chunk.length;
      if (size > maxBodyBytes) throw tooLarge(maxBodyBytes);
      chunks.push(chunk);
      if (piece.eof) return Buffer.concat(chunks);
    }
  } finally {
    session.send("IO.close", { handle: stream }).catch(() => {});
  }
}

export function tooLarge(maxBodyBytes: number): FetchFailure {
  return new FetchFailure("body_too_large", `the page is larger than ${maxBodyBytes} bytes`);
}
