import type { Readable } from "node:stream";
import type { Seal } from "../../base/seal.ts";
import { crawlKey } from "../../domain/crawl/crawl-scope.ts";
import type { Failure } from "../../domain/run/failure.ts";
import type { Attempt, Handled, Report, RunEvent, TaskArtifact } from "../../domain/run/outcome.ts";
import type { PageSnapshot, Recipe } from "../../domain/run/recipe.ts";
import type { PageStats } from "../../domain/run/run-facts.ts";
import { openActions } from "../../domain/page/secret-actions.ts";
import { recipeAt, robotsOverride } from "../../domain/site/site-options.ts";
import { type PageMemory, planStrategy } from "../../domain/page/strategy-plan.ts";
import { shownUrl, siteOf } from "../../domain/text/url.ts";
import { type PageAnswer, receivedOf } from "../../fetch/page.ts";
import { credentialsFor } from "../../pages/access.ts";
import { type PageFileKeeper, withDocument } from "../../pages/document.ts";
import type { EvidenceKeeper } from "../../pages/evidence.ts";
import type { ExchangeKeeper } from "../../pages/exchange.ts";
import { getPage, type PageDeps, type PageGot, type PageOrder } from "../../pages/get-page.ts";
import type { RobotsRules } from "../../pages/obey-robots.ts";
import { noticeExpiry } from "../../pages/session-expiry.ts";
import type { ClaimedTask, Store } from "../../store/ports/port.ts";
import type { HandlerContext, TaskHandler } from "./handler.ts";
import { holdAtHead } from "./hold-at-head.ts";
import { type FixtureWriter, RunFixtures } from "./fixtures.ts";
import { RunMonitor } from "./monitor.ts";
import { withTracking } from "./tracking.ts";
import { requireOpenSite, movedElsewhere, waitElsewhere } from "./crawl/other-sites.ts";
import { escalationAfter, freeCrash, lessonOf, memoryOf } from "./page-lessons.ts";
import { memoryAt } from "./site-memory.ts";
import { spacedByRobots } from "./spacing.ts";
import { type Solve, unusable, withSolved } from "./solver.ts";

export interface PageHandlerDeps extends PageDeps {
  store: Store;
  seal: Seal;
  evidence: EvidenceKeeper;
  exchanges: ExchangeKeeper;
  files: PageFileKeeper;
  keepFixture: FixtureWriter;
  openArtifact(hash: string): Promise<Readable>;
  robots: RobotsRules;
  /** The user's solver; null: walls are left to a person. */
  solve: Solve | null;
}

/** Handles runs of a single page. */
export function pageHandler(deps: PageHandlerDeps): TaskHandler {
  return { strategy: "http", run: (task, context) => attemptPage(deps, task, context) };
}

async function attemptPage(deps: PageHandlerDeps, task: ClaimedTask, context: HandlerContext): Promise<Handled> {
  const { store, clock } = deps;
  const { signal } = context;
  const begun = clock.monotonic();
  const url = task.nextUrl ?? task.url;
  const run = await store.run(task.runId);
  if (run === null || url === null) return { kind: "handed_back", why: "the run was deleted" };
  const requested = (run.snapshot as PageSnapshot).recipe;
  const site = await store.site(siteOf(url));
  const plan = planStrategy(requested, task.memory as PageMemory | null, site, url, clock.now());
  const recipe = recipeAt(requested, site);
  const sessionId = run.facts.session_id ?? null;
  const monitor = RunMonitor.of(deps, { ...run, sessionId }, requested.monitor, requested);
  const order: PageOrder = {
    recipe,
    plan,
    url,
    // Credentials for the requested page are sent to no other origin.
    credentialsFor: async (target) =>
      URL.parse(target)?.origin === URL.parse(task.url ?? url)?.origin
        ? credentialsFor(deps, recipe, target, { supplied: run.facts.session_id })
        : null,
    browserOptions: () => openActions(deps.seal, recipe.browser, task.url ?? url),
    ...holdAtHead(context, deps.clock),
    ...(monitor?.asksAgain === true ? {} : { beforeExtract: context.leaveSite }),
    mayAsk: context.mayAsk,
    memory: memoryAt(site, url, context),
    ...(context.via === undefined ? {} : { via: context.via }),
    ...(recipe.respect_robots ? { robots: spacedByRobots(deps.robots, context) } : {}),
    // A plain request consists of its URL: it continues as a task of the other site's lane. A browser and an API call
    // carry more state, such as a sign-in that leads there and back.
    followRedirects: (from, to, way) => way !== "http" || siteOf(from) === siteOf(to),
    beforeRedirect: async (to) => {
      if (siteOf(to) !== siteOf(url)) await requireOpenSite(deps, siteOf(to));
    },
    askedUrl: task.url ?? url,
    signal,
  };
  const waitsAt = run.facts.waits_at ?? null;
  let got: PageGot;
  let solving: RunEvent | null;
  try {
    if (waitsAt !== null) await requireOpenSite(deps, waitsAt);
    ({ got, event: solving } = await solveWall(deps, task, order, await getPage(deps, order), context));
    got = await noticeExpiry(deps, got, run.facts.session_id ?? recipe.session_id, task.url ?? url);
  } catch (error) {
    return waitElsewhere(error, waitsAt, clock.now());
  }
  // Reported with the first attempt at this site; a moved page has not tried it yet.
  const last = task.attempts.at(-1);
  const isFirst = last === undefined || hasMoved(last);
  const override = isFirst ? robotsOverride(requested.respect_robots, site) : null;
  const notes = [override, solving].filter((event) => event !== null);
  const durationMs = Math.round(clock.monotonic() - begun);
  const handled = await new Conclusion(deps, { task, recipe, url, notes }, got, durationMs).handled();
  const fixtures = RunFixtures.of(deps, { ...run, sessionId }, requested);
  const { tracking, url: pageUrl } = run.snapshot as PageSnapshot;
  const tracked = await withTracking(deps, tracking, handled, pageUrl, requested);
  const kept = fixtures === null ? tracked : await fixtures.with(tracked, got);
  const visit = {
    key: crawlKey(pageUrl),
    askedKey: crawlKey(pageUrl),
    url: pageUrl,
    isRedirected: false,
    again: () => getPage(deps, { ...order, plan: got.plan }),
  };
  return monitor === null ? kept : monitor.with(kept, got, visit, context);
}

/** Passes a wall that a browser did not get past to the user's solver, and fetches the page again with its answer. */
async function solveWall(
  deps: PageHandlerDeps,
  task: ClaimedTask,
  order: PageOrder,
  got: PageGot,
  context: HandlerContext,
): Promise<{ got: PageGot; event: RunEvent | null }> {
  if (deps.solve === null || got.plan.way !== "browser" || !isWall(got.failure)) return { got, event: null };
  const { found, event } = await deps.solve(task, order.url, got, context);
  if (found === null) return { got, event };
  const after = await getPage(deps, {
    ...order,
    plan: got.plan,
    credentialsFor: async (target) => withSolved(await order.credentialsFor(target), found),
  });
  // A solution that cannot be sent has solved nothing: the wall remains, and a person may help.
  if (after.failure?.reason !== "request_invalid") return { got: after, event };
  return { got, event: event ?? unusable([after.failure.message]) };
}

/** An earlier attempt without a failure was redirected to another site. */
function hasMoved({ failure_code }: Attempt): boolean {
  return failure_code === null;
}

function isWall(what: Failure | null): boolean {
  return what?.reason === "challenge_page" || what?.reason === "captcha_page";
}

interface Attempted {
  task: ClaimedTask;
  recipe: Recipe;
  url: string;
  /**
   * For the run's log: how the site's settings changed the recipe, and which parts of a solver's answer are unusable.
   */
  notes: RunEvent[];
}

/** A browser can open the URL of an API call, but it can neither post to it nor follow its pagination. */
function mayEscalate({ strategy, escalate, replay }: Recipe): boolean {
  if (strategy !== "api_replay") return escalate || strategy === "auto";
  const { request, pagination } = replay as { request: { method?: string }; pagination?: unknown };
  return escalate && (request.method ?? "GET") === "GET" && (pagination ?? null) === null;
}

/** The outcome of an attempt for its task and run. */
class Conclusion {
  readonly #deps: PageHandlerDeps;
  readonly #task: ClaimedTask;
  readonly #recipe: Recipe;
  readonly #url: string;
  readonly #notes: readonly RunEvent[];
  readonly #got: PageGot;
  readonly #stats: PageStats;

  constructor(deps: PageHandlerDeps, about: Attempted, got: PageGot, durationMs: number) {
    this.#deps = deps;
    this.#task = about.task;
    this.#recipe = about.recipe;
    this.#url = about.url;
    this.#notes = about.notes;
    this.#got = got;
    this.#stats = statsOf(got, about.task.redirects, durationMs);
  }

  async handled(): Promise<Handled> {
    const { failure, judgement, answer, plan } = this.#got;
    const moved = movedElsewhere(answer);
    if (moved !== null) return { ...moved, answeredMs: answer?.headMs ?? null, report: this.#moved(answer!) };
    if (failure !== null) return this.#failed(failure);
    // An API call or a document says nothing about the site's pages.
    const isOther = plan.way === "browser" && this.#recipe.strategy === "api_replay";
    const learned = isOther || answer?.document !== undefined ? null : lessonOf(this.#url, plan);
    return {
      kind: "completed",
      ...(await withDocument(this.#deps.files, this.#got, judgement?.records ?? [], this.#task.url ?? this.#url)),
      ...(answer === null ? {} : { httpStatus: answer.status }),
      answeredMs: answer?.headMs ?? null,
      detail: this.#stats,
      report: { ...this.#report(), ...(learned === null ? {} : { learned }) },
    };
  }

  #moved({ finalUrl, notFollowed }: PageAnswer): Report {
    const [from, to] = [finalUrl, notFollowed!].map((url) => shownUrl(url).slice(0, MAX_SHOWN_LENGTH));
    const message = `Redirected to another site: ${to}`;
    const redirected: RunEvent = { type: "task.redirected", level: "info", message, meta: { from, to } };
    const events = [...this.#notes, redirected];
    return { strategy: this.#got.plan.way, run: { events, facts: { waits_at: null } } };
  }

  async #failed(what: Failure): Promise<Handled> {
    const { plan, evidence, answer } = this.#got;
    const crashed = freeCrash(this.#task, plan, what);
    if (crashed !== null) return crashed;
    const files = await this.#deps.evidence.keep(this.#url, what, evidence, answer);
    const report = this.#report(files);
    if (this.#needsHuman(what)) return { kind: "human", failure: what, report };
    const escalation = mayEscalate(this.#recipe) ? escalationAfter(plan, what) : null;
    return { kind: "failed", failure: what, report: { ...report, ...escalation } };
  }

  /** A wall that a browser did not get past, or a refused sign-in: a person can help. */
  #needsHuman(what: Failure): boolean {
    if (this.#got.plan.way !== "browser") return false;
    if (isWall(what)) return true;
    return this.#recipe.requires_auth && (what.reason === "http_unauthorized" || what.reason === "login_page");
  }

  #report(files: readonly TaskArtifact[] = []): Report {
    const { plan } = this.#got;
    const report: Report = { strategy: plan.way, ...memoryOf(plan) };
    if (files.length > 0) report.evidence = files;
    const resolved: RunEvent = {
      type: "strategy.resolved",
      level: "info",
      message: `Strategy resolved: ${plan.way}, because ${plan.evidence.because}`,
      meta: { strategy: plan.way, evidence: plan.evidence },
    };
    const last = this.#task.attempts.at(-1);
    const events = last?.strategy === plan.way && !hasMoved(last) ? [] : [resolved];
    report.run = {
      events: [...this.#notes, ...events],
      facts: { resolved_strategy: plan.way, strategy_evidence: plan.evidence, stats: this.#stats, waits_at: null },
    };
    return report;
  }
}

const MAX_SHOWN_LENGTH = 2000;

/** `before`: redirects of other sites, before this attempt. */
function statsOf(
  { plan, answer, judgement, extract }: PageGot,
  before: readonly string[],
  durationMs: number,
): PageStats {
  const received = answer === null ? null : receivedOf(answer);
  const stats: PageStats = {
    http_status: answer?.status ?? null,
    content_type: received?.contentType?.slice(0, 200) ?? null,
    content_length: received === null ? null : sizeOf(received.body),
    ...(answer?.document === undefined ? {} : { document_type: answer.document.type }),
    // Bounded: the site decides how long these are, and they are shown on the run, in its log and in every list.
    title: judgement?.title?.slice(0, 500) ?? null,
    final_url: answer === null ? null : shownUrl(answer.finalUrl).slice(0, MAX_SHOWN_LENGTH),
    duration_ms: durationMs,
    strategy: plan.way,
  };
  if (plan.way === "browser") stats.browser = answer?.browser ?? "playwright-chromium";
  const redirects = [...before, ...(answer?.redirects ?? []).map(({ from }) => from)];
  if (redirects.length > 0) stats.redirects = redirects.map((from) => shownUrl(from).slice(0, MAX_SHOWN_LENGTH));
  if (judgement !== null && judgement.warnings.length > 0) stats.warnings = [...judgement.warnings];
  if (extract !== undefined) stats.extract = extract;
  return stats;
}

function sizeOf(body: Uint8Array | string): number {
  return typeof body === "string" ? Buffer.byteLength(body) : body.byteLength;
}
