/** Records the JSON exchanges of a browser page's scripts. */
import type { Page, Request } from "playwright-core";
import type { Clock, Timer } from "../../base/clock.ts";
import type { Exchange } from "./exchange.ts";
import { readJson } from "./json-body.ts";

interface RecordOptions {
  clock: Clock;
  /** Later ones are counted as dropped. */
  maxExchanges?: number;
  /** Of one response, and of all together. */
  maxBodyBytes?: number;
  maxBytes?: number;
  /** The page has settled when no script request was pending for this long. */
  quietMs?: number;
}

interface Recording {
  /** In order of completion. */
  readonly exchanges: readonly Exchange[];
  /** JSON responses beyond the limits. */
  readonly dropped: number;
  /** Resolves with true when the page has settled, with false after `timeoutMs`. Call it once the page has loaded. */
  settled(timeoutMs: number): Promise<boolean>;
  stop(): void;
}

const DEFAULTS = { maxExchanges: 200, maxBodyBytes: 5 * 1024 * 1024, maxBytes: 50 * 1024 * 1024, quietMs: 500 };
const MAX_TEXT = 500_000;

/** Call it before the page navigates. */
export function recordExchanges(page: Page, options: RecordOptions): Recording {
  return new Recorder(page, { ...DEFAULTS, ...options });
}

/** The displayed text of the page, for ranking. */
export async function visibleText(page: Page): Promise<string> {
  return String(await page.evaluate(`(document.body?.innerText ?? "").slice(0, ${MAX_TEXT})`));
}

class Recorder implements Recording {
  readonly exchanges: Exchange[] = [];
  dropped = 0;
  readonly #page: Page;
  readonly #options: Required<RecordOptions>;
  /** Not answered, or not yet read. */
  readonly #pending = new Set<Request>();
  #bytes = 0;
  #quiet: Timer | null = null;
  #onSettled: (() => void) | null = null;

  constructor(page: Page, options: Required<RecordOptions>) {
    this.#page = page;
    this.#options = options;
    page.on("request", this.#onRequest);
    page.on("requestfinished", this.#onFinished);
    page.on("requestfailed", this.#onFailed);
  }

  settled(timeoutMs: number): Promise<boolean> {
    return new Promise((resolve) => {
      const limit = this.#options.clock.after(timeoutMs, () => end(false), { keepAlive: true });
      const end = (settled: boolean) => {
        limit.cancel();
        this.#quiet?.cancel();
        this.#onSettled = null;
        resolve(settled);
      };
      this.#onSettled = () => end(true);
      this.#restartQuietTimer();
    });
  }

  stop(): void {
    this.#page.off("request", this.#onRequest);
    this.#page.off("requestfinished", this.#onFinished);
    this.#page.off("requestfailed", this.#onFailed);
    this.#quiet?.cancel();
  }

  readonly #onRequest = (request: Request) => {
    if (!isByScript(request)) return;
    this.#pending.add(request);
    this.#restartQuietTimer();
  };

  readonly #onFailed = (request: Request) => {
    if (this.#pending.delete(request)) this.#restartQuietTimer();
  };

  readonly #onFinished = (request: Request) => {
    if (!this.#pending.has(request)) return;
    void this.#read(request)
      // After a close or a navigation the browser no longer has the body.
      .catch(() => {})
      .finally(() => this.#onFailed(request));
  };

  #restartQuietTimer(): void {
    this.#quiet?.cancel();
    if (this.#onSettled === null || this.#pending.size > 0) return;
    this.#quiet = this.#options.clock.after(this.#options.quietMs, () => this.#onSettled?.(), { keepAlive: true });
  }

  async #read(request: Request): Promise<void> {
    const { maxExchanges, maxBodyBytes, maxBytes } = this.#options;
    const response = await request.response();
    if (response === null) return;
    const headers = await response.allHeaders();
    const contentType = headers["content-type"] ?? null;
    if (!mayBeJson(contentType)) return;
    const { responseBodySize } = await request.sizes();
    if (this.exchanges.length >= maxExchanges || responseBodySize > maxBodyBytes || this.#bytes >= maxBytes) {
      this.dropped += 1;
      return;
    }
    const sent = await request.allHeaders();
    const bytes = await response.body();
    const body = bytes.toString("utf8");
    if (readJson(body) === undefined) return;
    // `responseBodySize` is the compressed size, and other responses may have arrived meanwhile.
    const fits = bytes.length <= maxBodyBytes && this.#bytes + bytes.length <= maxBytes;
    if (!fits || this.exchanges.length >= maxExchanges) {
      this.dropped += 1;
      return;
    }
    this.#bytes += bytes.length;
    this.exchanges.push({
      request: { method: request.method(), url: request.url(), headers: sent, body: request.postData() },
      response: { status: response.status(), headers, contentType, body },
    });
  }
}

function isByScript(request: Request): boolean {
  const type = request.resourceType();
  return (type === "xhr" || type === "fetch") && /^https?:/.test(request.url());
}

/** Servers also send JSON as plain text or script. */
function mayBeJson(contentType: string | null): boolean {
  return contentType === null || /\bjson\b|[+/]json|text\/plain|javascript/i.test(contentType);
}
