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
  /** Waited for before a redirect, or a script that leads elsewhere, is followed. */
  beforeRedirect?: (to: URL) => Promise<void>;
  /** Marks answers that are the proxy's own. */
  guestId: string;
  /** Why the proxy could not reach this host. */
  proxyFailure: (host: string) => FetchFailure | null;
}

/**
 * What happens to the document of the page itself: its redirects, its head, and its bytes when they are nothing that a
 * browser puts together. Ends the navigation where it must not go on, and keeps the reason.
 */
export class MainDocument implements DocumentWatch {
  readonly redirects: Redirect[] = [];
  /** Of the document that the page shows, or that ended the navigation. */
  head: DocumentHead | null = null;
  /** The body of a document that is not HTML. */
  body: Buffer | null = null;
  /** Asked of the site for the page itself. */
  requests = 0;
  notFollowed: string | null = null;
  /** What ended the navigation. May be anything that `followRedirects` or `beforeRedirect` threw. */
  failure: unknown = null;
  /** Why the page was last kept from going elsewhere. */
  refusal: FetchFailure | null = null;
  /** Resolves when the page wanted to leave and was kept: Chromium then never says that the document is complete. */
  readonly kept: Promise<void>;
  readonly #keep: () => void;
  readonly #rules: DocumentRules;
  #frame: string | null = null;

  constructor(rules: DocumentRules) {
    this.#rules = rules;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.kept = promise;
    this.#keep = resolve;
  }

  onRequest(held: HeldRequest): Verdict | Promise<Verdict> {
    // The first document that a new page asks for is its own.
    this.#frame ??= held.frameId;
    if (held.frameId !== this.#frame || this.head === null || held.redirectedRequestId !== undefined) return "continue";
    // A script, a form or a refresh leads away from the document that is there. What may not be followed is not asked
    // for, and the page stays as it is. Loading the same address again is how challenges end.
    const from = URL.parse(this.head.url);
    const to = URL.parse(held.request.url);
    if (from === null || to === null || from.href.split("#")[0] === to.href.split("#")[0]) return "continue";
    try {
      checkUrl(to, this.#rules.policy);
      if (this.#rules.followRedirects?.(from, to) !== false) return this.#follow(to);
      return this.#stay(leadsAway());
    } catch (error) {
      // The guard's refusal is as good as the caller's.
      return this.#stay(error);
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
      return this.#begin(head, held, session);
    } catch (error) {
      // A document is there already: what it wanted to turn into cannot be had, and it stays.
      if (this.head !== null) return this.#stay(error);
      this.failure = error;
      return "abort";
    }
  }

  #stay(why?: unknown): Verdict {
    if (why instanceof FetchFailure) this.refusal = why;
    this.#keep();
    return "abort";
  }

  /** Goes there as soon as that may be; else the navigation ends, and the reason is kept. */
  #follow(to: URL): Verdict | Promise<Verdict> {
    const { beforeRedirect } = this.#rules;
    if (beforeRedirect === undefined) return "continue";
    return beforeRedirect(to).then(
      () => "continue",
      (error: unknown) => {
        this.failure = error;
        return this.#stay();
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
      if (this.head !== null) return this.#stay(leadsAway());
      this.notFollowed = target;
      this.head = head;
      return "abort";
    }
    this.redirects.push({ status: head.status, from: head.url, to: target });
    return this.#follow(to);
  }

  #begin(head: DocumentHead, held: HeldRequest, session: CDPSession): Verdict | Promise<Verdict> {
    const { maxBodyBytes } = this.#rules;
    if (Number(head.headers["content-length"] ?? 0) > maxBodyBytes) throw tooLarge(maxBodyBytes);
    if (head.status === 204 || head.status === 205) {
      if (this.head !== null) return this.#stay();
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
      throw new FetchFailure(
        "not_html",
        `the address leads to a file (${head.contentType ?? "download"}), not to a page`,
        {
          httpStatus: head.status,
        },
      );
    this.head = head;
    return readBody(session, held.requestId, maxBodyBytes).then(
      (body) => {
        this.body = body;
        return this.#stay();
      },
      (error: unknown) => {
        this.failure =
          error instanceof FetchFailure
            ? error
            : new FetchFailure("truncated_body", "the body could not be read to its end", { cause: error });
        return this.#stay();
      },
    );
  }

  #proxyFailure(url: string): FetchFailure {
    const known = this.#rules.proxyFailure(URL.parse(url)?.host ?? "");
    return known ?? new FetchFailure("connection_failed", "the site could not be reached");
  }
}

function leadsAway(): FetchFailure {
  return new FetchFailure("action_failed", "it leads to a page that is not followed here");
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
  // Without a type Chromium looks at the bytes; most of what says nothing is HTML.
  if (type === "" || type === "text/html" || type === "application/xhtml+xml") return "page";
  return PLAIN.test(type) ? "text" : "file";
}

/** In pieces, so that a body that never ends does not fill anybody's memory. */
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
