/** What fetches and parses pages, created once per process: network, browser, threads. */
import { isIP } from "node:net";
import { availableParallelism, freemem } from "node:os";
import { type Clock, sleep } from "../base/clock.ts";
import type { Log } from "../base/log.ts";
import { harmlessEnvironment } from "../base/machine.ts";
import { MemoryLimit } from "../base/process/memory-limit.ts";
import { systemRandom } from "../base/random.ts";
import type { Client } from "./context.ts";
import type { Config } from "../config/options.ts";
import { softBlockOf } from "../domain/page/soft-block.ts";
import { commandWords, type Ocr, ocrCommand } from "../documents/ocr.ts";
import { type SearchEndpoint, searxng } from "../pages/searxng.ts";
import { ocrEndpoint } from "../pages/ocr-endpoint.ts";
import { createDocumentReader, type DocumentReader } from "../documents/reader.ts";
import { LlmEndpoint } from "../extract/llm/endpoint.ts";
import { LlmExtractor } from "../extract/llm/extractor.ts";
import { createPageReader, type PageReader } from "../extract/pool.ts";
import { type BrowserPool, type BrowserPoolOptions, createBrowserPool } from "../fetch/browser/pool.ts";
import { pagesForMemory } from "../fetch/browser/pages-for-memory.ts";
import { createBrowserStrategy } from "../fetch/browser/strategy.ts";
import { createHttpPageStrategy } from "../fetch/http/page.ts";
import { createReplayStrategy } from "../fetch/replay/strategy.ts";
import { parseAddressPolicy } from "../net/address.ts";
import { createHttpClient, type HttpClient } from "../net/http-client.ts";
import { siteOf } from "../domain/text/url.ts";
import type { Store } from "../store/ports/port.ts";
import type { PageDeps } from "../pages/get-page.ts";
import { openUserExtractors } from "./user-extractors.ts";

export interface PageTools extends PageDeps {
  http: HttpClient;
  browser: BrowserPool;
  memory: MemoryLimit;
  /** Null: no search server is configured. */
  search: SearchEndpoint | null;
  close(): Promise<void>;
}

/** Time limit for parsing a page, after which its thread is terminated. */
const READ_MS = 5_000;

/**
 * Starts nothing by itself: connections, browser and threads start with the first page that needs them. `shared` threads
 * belong to the caller and stay open.
 */
export function createPageTools(
  config: Config,
  log: Log,
  { clock, store, policy }: Pick<Client, "clock" | "store" | "policy">,
  shared?: PageReader,
): PageTools {
  const limits = httpLimits(config);
  const http = createHttpClient({
    policy,
    clock,
    userAgent: config.userAgent,
    limits,
    maxConnectionsPerOrigin: config.maxWorkers,
  });
  const memory: MemoryLimit = new MemoryLimit({
    clock,
    limitBytes: config.maxMemoryMb === null ? null : config.maxMemoryMb * 1024 * 1024,
    used: async () => process.memoryUsage.rss() + (await browser.memory()),
    relieve: () => browser.relieve(),
  });
  const browser = openBrowser(config, log, clock, { policy, enter: (signal) => memory.enter(signal) });
  const llm = openLlm(config, clock);
  const user = openUserExtractors(config, log, clock);
  const reader = shared ?? openPageReader(clock);
  const documents = openDocumentReader(config, clock);
  const search = openSearch(config, clock);
  return {
    clock,
    http,
    browser,
    memory,
    reader,
    search,
    documents,
    extractors: { llm, user: user.extract },
    strategies: {
      http: createHttpPageStrategy({ client: http, clock, limits }),
      browser: createBrowserStrategy({
        pool: browser,
        clock,
        policy,
        // A challenge may pass by itself; a captcha needs a person, so do not wait for it here.
        isChallenge: (page) => softBlockOf(page)?.kind === "challenge",
      }),
      api_replay: createReplayStrategy({
        client: http,
        clock,
        limits,
        pause: async (signal, url) => sleep(clock, await delayOf(config, store, siteOf(url)), signal),
      }),
    },
    limits: {
      httpTimeoutMs: config.httpTimeoutMs,
      browserTimeoutMs: config.browserNavTimeoutMs,
      maxBodyBytes: config.maxBodyBytes,
    },
    close: async () => {
      const closesReader = reader === shared ? null : reader.close();
      const others = [
        browser.close(),
        documents.close(),
        http.close(),
        llm?.endpoint.close(),
        user.close(),
        search?.close(),
      ];
      await Promise.all([closesReader, ...others]);
    },
  };
}

export function openPageReader(clock: Clock): PageReader {
  return createPageReader({ threads: Math.max(1, availableParallelism() - 1), timeoutMs: READ_MS, clock });
}

function openDocumentReader(config: Config, clock: Clock): DocumentReader {
  const ocr = openOcr(config, clock);
  return createDocumentReader({ clock, ...(ocr === null ? {} : { ocr }) });
}

/** Null: none is configured. Starts and sends nothing yet. */
function openOcr(
  { ocrCommand: line, ocrUrl: url, ocrTimeoutMs: timeoutMs, userAgent }: Config,
  clock: Clock,
): Ocr | null {
  if (line !== null) return ocrCommand({ command: commandWords(line), timeoutMs, env: harmlessEnvironment(), clock });
  return url === null ? null : ocrEndpoint({ url, timeoutMs, userAgent, clock });
}

/** Null: none is configured. Sends nothing yet. */
function openSearch(
  { searchUrl: url, searchTimeoutMs: timeoutMs, userAgent }: Config,
  clock: Clock,
): SearchEndpoint | null {
  return url === null ? null : searxng({ url, timeoutMs, userAgent, clock });
}

/** The configured model; null: none. Sends nothing yet. */
function openLlm(config: Config, clock: Clock): LlmExtractor | null {
  const { llmUrl: url, llmKey: key, llmModel: model, userAgent } = config;
  if (url === null) return null;
  const endpoint = new LlmEndpoint({
    url,
    key,
    model,
    timeoutMs: config.llmTimeoutMs,
    concurrency: config.llmConcurrency,
    maxInputChars: config.llmMaxInputChars,
    maxTokens: config.llmMaxTokens,
    userAgent,
    clock,
  });
  return new LlmExtractor(endpoint, systemRandom);
}

/** Subresources may be slower than the page. */
const LEAST_SILENCE_MS = 60_000;

/** A browser as configured, behind the guard; `env` is added to the environment it gets from us. */
export function openBrowser(
  config: Config,
  log: Log,
  clock: Clock,
  more: Partial<Pick<BrowserPoolOptions, "headed" | "enter" | "policy">> & {
    env?: Readonly<Record<string, string>>;
  } = {},
): BrowserPool {
  const remote = more.headed === true ? undefined : remoteBrowsers(config);
  return createBrowserPool({
    clock,
    log,
    policy: parseAddressPolicy(config.allowPrivateNetworks),
    userAgent: config.userAgent,
    maxPages: config.browserMaxPages ?? pagesForMemory(freemem()),
    // A longer page timeout is meant for the site: it may use all of it before its first byte.
    silenceMs: Math.max(LEAST_SILENCE_MS, config.browserNavTimeoutMs),
    ...(config.browserPath === null ? {} : { path: config.browserPath }),
    ...(remote === undefined ? {} : { remote }),
    ...more,
    env: { ...harmlessEnvironment(), ...more.env },
  });
}

/** The browsers of APP_BROWSER_URL, and where they reach the guarding proxy. */
export function remoteBrowsers(config: Config): BrowserPoolOptions["remote"] {
  const { browserUrl, browserUrlPages, browserTrusted, browserProxyHost: host, browserProxyListen } = config;
  if (browserUrl === null) return undefined;
  const urls = browserUrl.filter((url) => url !== "local");
  const shared = {
    urls,
    local: urls.length < browserUrl.length,
    maxPages: browserUrlPages,
    trusted: browserTrusted,
  };
  if (host === null) return shared;
  const bind = browserProxyListen ?? (isIP(host) === 0 ? "0.0.0.0" : host);
  return { ...shared, proxy: { host, bind, port: config.browserProxyPort } };
}

/** Delay between two requests of one replayed list: as the site's limits enforce between two tasks. */
async function delayOf(config: Config, store: Store, name: string): Promise<number> {
  const site = await store.site(name);
  const byRate = site?.requestsPerSecond ? 1000 / site.requestsPerSecond : 0;
  return Math.max(site?.minDelayMs ?? config.minHostDelayMs, site?.crawlDelayMs ?? 0, byRate);
}

function httpLimits(config: Config) {
  return {
    connectMs: Math.min(10_000, config.httpTimeoutMs),
    headersMs: config.httpTimeoutMs,
    idleMs: config.httpTimeoutMs,
    totalMs: config.httpTimeoutMs,
    maxBodyBytes: config.maxBodyBytes,
  };
}

/** A download may take longer than a page, as long as it keeps this pace. */
const SLOWEST_DOWNLOAD_BYTES_PER_SECOND = 32 * 1024;

export function downloadLimits(config: Config) {
  return { ...httpLimits(config), minBytesPerSecond: SLOWEST_DOWNLOAD_BYTES_PER_SECOND };
}
