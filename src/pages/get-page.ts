import type { Clock } from "../base/clock.ts";
import { inSpan } from "../base/tracing.ts";
import type { Credentials } from "../domain/text/credentials.ts";
import { shownUrl } from "../domain/text/url.ts";
import type { ExtractStats } from "../domain/page/extract-request.ts";
import { type Failure, FetchFailure } from "../domain/run/failure.ts";
import type { Validators } from "../domain/page/page-copy.ts";
import { type BrowserOptions, documentOf, pictureOf } from "../domain/page/page-options.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import type { Upstream } from "../domain/proxy/upstream.ts";
import type { StrategyEvidence, StrategyPlan, Way } from "../domain/page/strategy-plan.ts";
import type { FollowOrder } from "../extract/follow.ts";
import type { PlanSpec } from "../extract/plan.ts";
import type { PageReader } from "../extract/pool.ts";
import {
  type BrowserFetchOptions,
  type MemoryShare,
  type PageAnswer,
  type PageEvidence,
  PageFailure,
  type PageRequest,
  type PageStrategy,
} from "../fetch/page.ts";
import { extractFurther, type FurtherDeps, isReadFurther } from "./extract-further.ts";
import { failedJudgement, type Judgement, judgeAnswer } from "./judge.ts";
import { fetchObeying, type RobotsRules } from "./obey-robots.ts";
import { asPage, type ReadsDocuments } from "./read-document.ts";

export interface PageDeps extends FurtherDeps, ReadsDocuments {
  clock: Clock;
  reader: PageReader;
  strategies: Readonly<Record<Way, PageStrategy>>;
  limits: PageLimits;
}

interface PageLimits {
  httpTimeoutMs: number;
  browserTimeoutMs: number;
  maxBodyBytes: number;
}

export interface PageOrder {
  recipe: Recipe;
  plan: StrategyPlan;
  url: string;
  credentialsFor(url: string): Promise<Credentials | null>;
  /** Browser options with secrets unsealed; default: the recipe's. */
  browserOptions?: () => BrowserOptions | null;
  /** The extraction plan; default: the recipe's. */
  spec?: PlanSpec;
  /** Also return the page's links. */
  follow?: FollowOrder;
  /** Pages with the same key may reuse a browser page. */
  shareKey?: string;
  /** See `PageRequest`. */
  mayAsk?: () => void;
  /** The site's share of browser memory. */
  memory?: MemoryShare;
  /** Called before the page and before every redirect; without it robots.txt is not checked. */
  robots?: RobotsRules;
  followRedirects?: (from: URL, to: URL, way: Way) => boolean;
  /** See `PageRequest`. */
  beforeRedirect?: (to: URL) => Promise<void>;
  /** See `PageRequest`. */
  onHead?: (status: number, headers: Readonly<Record<string, string>>) => void;
  /** The originally requested URL, when redirects led from it to this one. */
  askedUrl?: string;
  /** Remaining time for the page, when it may be below the page's limit. */
  mostMs?: number;
  /** Validators of a stored copy: a plain request becomes conditional. */
  conditions?: Validators;
  /** Whether the response is a list of URLs (a feed, a sitemap) and not read as a page. */
  isList?: (answer: PageAnswer) => boolean;
  /** False: a document, such as a PDF, is not read and fails as `not_html`. Default: as the recipe says. */
  documents?: boolean;
  /** The answer then includes the raw exchanges. */
  keepExchanges?: boolean;
  /** Whether to take evidence for this failure. Default: always. */
  isShown?: (what: Failure) => boolean;
  /** The proxy for all requests of the page. Default: none. */
  via?: Upstream;
  /** Called before waiting for a browser. */
  beforeBrowser?: () => void;
  /** Called when the page has loaded and extraction starts; the site's response time is known. */
  beforeExtract?: (answeredMs: number | null) => void;
  signal: AbortSignal;
}

/** The result; never throws a FetchFailure, only errors that end the attempt itself. */
export interface PageGot {
  /** The plan after a probe. */
  plan: StrategyPlan;
  answer: PageAnswer | null;
  /** Null without an answer, and for 304 Not Modified. */
  judgement: Judgement | null;
  failure: Failure | null;
  evidence: PageEvidence | null;
  /** A list of URLs, not read as a page. */
  isList?: true;
  /** Set when an extractor besides the rules ran. */
  extract?: ExtractStats;
}

/** The server has answered 304 Not Modified. */
export function isUnchanged({ answer, judgement, isList }: PageGot): boolean {
  return answer !== null && judgement === null && isList !== true;
}

/** Fetches a page once and extracts it. No browser page or reader thread is held during model or user extraction. */
export async function getPage(deps: PageDeps, order: PageOrder): Promise<PageGot> {
  const startedAt = deps.clock.monotonic();
  const got = await getAndJudge(deps, order);
  const { answer, judgement } = got;
  const extraction = judgement?.extraction ?? null;
  if (!isReadFurther(order.recipe) || got.failure !== null || answer === null || extraction === null) return got;
  const leftMs = order.mostMs === undefined ? undefined : order.mostMs - (deps.clock.monotonic() - startedAt);
  const source = {
    recipe: order.recipe,
    url: answer.finalUrl,
    page: answer,
    signal: order.signal,
    beforeExtract: () => order.beforeExtract?.(answer.headMs ?? null),
    ...(leftMs === undefined ? {} : { mostMs: leftMs }),
  };
  const read = await inSpan("extract further", () => extractFurther(deps, source, extraction));
  const { records, errors, failure, stats } = read;
  const kept = failure === null ? records : [];
  return {
    ...got,
    failure,
    judgement: {
      ...judgement!,
      failure,
      records: kept,
      read: records,
      errors,
      extraction: { ...extraction, records: kept },
    },
    extract: stats,
  };
}

/**
 * Fetches the page. A probe is the first fetch: a good answer is used, and a block or an empty shell continues with a
 * browser at once.
 */
async function getAndJudge(deps: PageDeps, order: PageOrder): Promise<PageGot> {
  const got = await probeAndJudge(deps, order);
  const { browser } = order.recipe;
  const isFile = got.plan.way === "browser" && got.failure?.reason === "not_html";
  if (!isFile || deps.documents === undefined || !readsDocuments(order) || (browser?.actions?.length ?? 0) > 0)
    return got;
  // A browser does not show files. If this one is a document, a plain request gets it.
  const evidence: StrategyEvidence = { rule: "document", because: "the URL leads to a file" };
  const file = await tryOnce(deps, order, { way: "http", probe: false, evidence });
  return file.answer?.document !== undefined || isDocumentFailure(file.failure) ? file : got;
}

function readsDocuments({ documents, recipe }: PageOrder): boolean {
  return documents ?? recipe.documents ?? true;
}

function isDocumentFailure(failure: Failure | null): boolean {
  return failure !== null && /^(?:document_|needs_ocr$)/.test(failure.reason);
}

async function probeAndJudge(deps: PageDeps, order: PageOrder): Promise<PageGot> {
  const { plan } = order;
  const first = await tryOnce(deps, order, plan);
  if (!plan.probe || first.judgement === null) return first;
  const { failure, sign } = first.judgement;
  const evidence: StrategyEvidence = {
    rule: "probe",
    because: reasonFor(failure, first.answer?.status),
    http_status: first.answer?.status ?? null,
    ...(sign === null ? {} : { sign }),
  };
  if (failure === null || failure.code !== "blocked") return { ...first, plan: { ...plan, evidence } };
  return tryOnce(deps, order, { way: "browser", probe: false, evidence });
}

/** Only a block argues for a browser: other failures would occur there as well. */
function reasonFor(failure: Failure | null, status: number | undefined): string {
  if (failure === null) return "a plain request returned the page";
  return failure.code === "blocked" ? failure.message : `a plain request was answered (${status})`;
}

async function tryOnce(deps: PageDeps, order: PageOrder, plan: StrategyPlan): Promise<PageGot> {
  try {
    await order.robots?.check(order.url, order.signal, order.via);
    const { answer, judgement, isList } = await fetchAndJudge(deps, order, plan.way);
    return {
      plan,
      answer,
      judgement,
      failure: judgement?.failure ?? null,
      evidence: answer.evidence ?? null,
      ...(isList === true ? { isList } : {}),
    };
  } catch (error) {
    if (!(error instanceof FetchFailure) || order.signal.aborted) throw error;
    const evidence = error instanceof PageFailure ? error.evidence : null;
    return { plan, answer: null, judgement: null, failure: error.failure, evidence };
  }
}

async function fetchAndJudge(
  deps: PageDeps,
  order: PageOrder,
  way: Way,
): Promise<{ answer: PageAnswer; judgement: Judgement | null; isList?: true }> {
  const { strategies, limits, clock, reader } = deps;
  const { recipe, url, robots, followRedirects, signal } = order;
  const requestedMs = recipe.timeout_seconds === null ? null : recipe.timeout_seconds * 1000;
  // Explicit plain HTTP without escalation accepts empty shells.
  const shells = way === "http" && (recipe.strategy === "auto" || recipe.escalate);
  let pendingJudgement: Promise<Judgement> | undefined;
  const judge = (answer: PageAnswer) =>
    (pendingJudgement ??= inSpan(
      "extract",
      () =>
        judgeAnswer(reader, answer, recipe, {
          ...(order.spec === undefined ? {} : { spec: order.spec }),
          ...(order.follow === undefined ? {} : { follow: order.follow }),
          shells,
          wantsJson: recipe.strategy === "api_replay",
          askedUrl: order.askedUrl ?? url,
          now: clock.now(),
          signal,
        }),
      ({ records }) => ({ "orb.records": records.length }),
    ));
  if (way === "browser") order.beforeBrowser?.();
  const timeoutMs = requestedMs ?? (way === "browser" ? limits.browserTimeoutMs : limits.httpTimeoutMs);
  const conditions = way === "http" ? order.conditions : undefined;
  const request: PageRequest & { signal: AbortSignal } = {
    url,
    credentials: await order.credentialsFor(url),
    timeoutMs: Math.min(timeoutMs, order.mostMs ?? timeoutMs),
    maxBodyBytes: limits.maxBodyBytes,
    signal,
    ...(order.via === undefined ? {} : { via: order.via }),
    ...(order.shareKey === undefined ? {} : { shareKey: order.shareKey }),
    ...(order.mayAsk === undefined ? {} : { mayAsk: order.mayAsk }),
    ...(order.memory === undefined ? {} : { memory: order.memory }),
    ...(followRedirects === undefined
      ? {}
      : { followRedirects: (from: URL, to: URL) => followRedirects(from, to, way) }),
    ...(order.beforeRedirect === undefined ? {} : { beforeRedirect: order.beforeRedirect }),
    ...(order.onHead === undefined ? {} : { onHead: order.onHead }),
    ...(conditions === undefined ? {} : { conditions }),
    ...(order.keepExchanges === true ? { keepExchanges: true } : {}),
    ...(way === "api_replay" ? { replay: recipe.replay } : {}),
    ...(way === "browser" ? { browser: browserFetchOptions(recipe, order.browserOptions?.() ?? recipe.browser) } : {}),
    wantsEvidence: async (open) => {
      const { failure } = await judge(open);
      return failure !== null && (order.isShown?.(failure) ?? true);
    },
  };
  const received = await inSpan(
    "fetch",
    () => (robots === undefined ? strategies[way].fetch(request) : fetchObeying(strategies[way], request, robots)),
    ({ status, finalUrl, body }) => ({
      "orb.strategy": way,
      "http.response.status_code": status,
      "url.full": shownUrl(finalUrl),
      "http.response.body.size": body.length,
    }),
  );
  // Reading a document may take minutes, in which the site is free for other pages.
  const leave = () => order.beforeExtract?.(received.headMs ?? null);
  const { answer, failure } = readsDocuments(order)
    ? await asPage(deps, received, signal, leave)
    : { answer: received, failure: null };
  if (failure !== null) return { answer, judgement: failedJudgement(failure) };
  const mayBeList = way === "http" && answer.status === 200 && answer.notFollowed === undefined;
  if (mayBeList && order.isList?.(answer) === true) return { answer, judgement: null, isList: true };
  // A 304 to an unconditional request is judged like any other status.
  return { answer, judgement: conditions !== undefined && answer.status === 304 ? null : await judge(answer) };
}

function browserFetchOptions(recipe: Recipe, browser: BrowserOptions | null): BrowserFetchOptions {
  const { wait_for = null, block_resources = false, wait_ms = null, mobile = false, actions = [] } = browser ?? {};
  const picture = pictureOf(documentOf(recipe));
  return {
    blockResources: block_resources,
    ...(wait_for === null ? {} : { waitFor: wait_for }),
    ...(wait_ms === null ? {} : { waitMs: wait_ms }),
    ...(mobile ? { mobile } : {}),
    ...(actions.length === 0 ? {} : { actions }),
    ...(picture === null ? {} : { picture }),
  };
}
