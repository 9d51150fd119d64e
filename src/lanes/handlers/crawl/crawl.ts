import { without } from "../../../base/without.ts";
import { type Clock, sleep } from "../../../base/clock.ts";
import type { CrawlPayload } from "../../../domain/crawl/crawl-options.ts";
import { crawlKey } from "../../../domain/crawl/crawl-scope.ts";
import { type Failure, failure } from "../../../domain/run/failure.ts";
import { fileEnding, isDocumentEnding } from "../../../domain/page/file-kinds.ts";
import { openActions } from "../../../domain/page/secret-actions.ts";
import type { Handled, Report, TaskArtifact } from "../../../domain/run/outcome.ts";
import type { Recipe } from "../../../domain/run/recipe.ts";
import type { LearnedStrategy } from "../../../domain/run/run-facts.ts";
import { recipeAt } from "../../../domain/site/site-options.ts";
import { type PageMemory, planStrategy } from "../../../domain/page/strategy-plan.ts";
import { siteOf } from "../../../domain/text/url.ts";
import { readRobotsDirectives } from "../../../domain/site/robots-directives.ts";
import type { PlanSpec } from "../../../extract/plan.ts";
import { receivedOf } from "../../../fetch/page.ts";
import { looksLikeList } from "../../../extract/sitemap-file.ts";
import { credentialsFor } from "../../../pages/access.ts";
import { withDocument } from "../../../pages/document.ts";
import { getPage, isUnchanged, type PageGot, type PageOrder } from "../../../pages/get-page.ts";
import type { Judgement } from "../../../pages/judge.ts";
import { noticeExpiry } from "../../../pages/session-expiry.ts";
import type { PageCopyRecord } from "../../../store/ports/crawl-port.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { SiteRecord } from "../../../store/records/site-records.ts";
import { holdAtHead } from "../hold-at-head.ts";
import { copyOf, withChange } from "./crawl-changes.ts";
import { isArchived, withExchange } from "../archive.ts";
import { contentOf, itemsOf } from "./crawl-items.ts";
import { linksOf, reportOf } from "./crawl-links.ts";
import { becomesRead, isRead, moved, movesOf } from "./crawl-moves.ts";
import type { GoalRead } from "./crawl-goal.ts";
import { ABOUT_ARTICLE, type CrawlRun, type CrawlRuns } from "./crawl-runs.ts";
import { withSignIn } from "./crawl-sign-in.ts";
import type { HandlerContext, TaskHandler } from "../handler.ts";
import type { PageHandlerDeps } from "../page.ts";
import { escalationAfter, freeCrash, lessonOf, memoryOf } from "../page-lessons.ts";
import { withOverride } from "../robots-override.ts";
import { memoryAt } from "../site-memory.ts";
import { isConfiguredStart, readStartList } from "./start-list.ts";
import { spacedByRobots } from "../spacing.ts";
import { withTracking } from "../tracking.ts";

/** A page of a crawl: fetched like any page, read, and its links added to the crawl. */
export function crawlHandler(deps: PageHandlerDeps, crawls: CrawlRuns): TaskHandler {
  return {
    strategy: "http",
    run: async (task, context) => {
      const crawl = await crawls.of(task.runId);
      const site = await crawls.sites.of(siteOf(task.nextUrl ?? task.url ?? ""));
      const handled = await attempt(deps, crawl, task, site, context);
      return addInBatches(deps.clock, withOverride(crawl, site, handled), context);
    },
    onWritten: ({ task, report, verdict }) => {
      // A moved start has grown the scope.
      if (report?.run?.facts.moved_starts !== undefined) crawls.drop(task.runId);
      if (verdict.kind === "completed") crawls.recovered(task.runId, task.row);
      if (report?.learned !== undefined) crawls.sites.drop(report.learned.site);
      if (report?.goal !== undefined) crawls.read(task.runId, report.goal);
      const keys = report?.discovered?.map(({ key }) => key) ?? [];
      if (keys.length > 0) crawls.keep(task.runId, keys);
    },
  };
}

/** Longer lists are added in batches: other writers wait for the transaction that makes them tasks. */
const BATCH_SIZE = 500;

async function addInBatches(clock: Clock, handled: Handled, context: HandlerContext): Promise<Handled> {
  const found = handled.report?.discovered ?? [];
  let from = 0;
  // After an interruption the page starts over; known tasks are not added twice.
  for (; found.length - from > BATCH_SIZE; from += BATCH_SIZE) {
    await context.addDiscovered({ found: found.slice(from, from + BATCH_SIZE), auxiliaryLimit: 0 });
    await sleep(clock, 0, context.signal);
  }
  return from === 0 ? handled : { ...handled, report: { ...handled.report, discovered: found.slice(from) } };
}

async function attempt(
  deps: PageHandlerDeps,
  crawl: CrawlRun,
  task: ClaimedTask,
  site: SiteRecord | null,
  context: HandlerContext,
): Promise<Handled> {
  const { clock, limits } = deps;
  const { signal } = context;
  const url = task.nextUrl ?? task.url ?? "";
  const { scope, time } = crawl;
  const { depth } = task.payload as CrawlPayload;
  const plan = planStrategy(crawl.recipe, task.memory as PageMemory | null, site, url, clock.now());
  const reads = isRead(crawl, task);
  const recipe = recipeAt(reads ? crawl.recipe : followRecipe(crawl.recipe), site);
  const timeoutMs = plan.way === "browser" ? limits.browserTimeoutMs : limits.httpTimeoutMs;
  await crawl.pause.next(signal);
  await crawl.goal?.refresh();
  const leftMs = await time.leftMs(timeoutMs);
  const neededMs = time.neededMs(timeoutMs);
  if (leftMs <= neededMs) return outOfTime(neededMs);
  const begun = clock.monotonic();
  const order: PageOrder = {
    recipe,
    plan,
    spec: reads ? crawl.spec : FOLLOW_SPEC,
    follow: {
      crawl: crawl.name,
      scope: crawl.scopeText,
      // The next run of a saved crawl may have to follow the links without the page.
      all: crawl.copies !== null || (crawl.goal !== null && scope.goesDeeperThan(depth)),
      tooDeep: !scope.goesDeeperThan(depth),
      ...(crawl.goal === null ? {} : { goal: crawl.goal.text }),
    },
    shareKey: task.runId,
    url,
    askedUrl: task.url ?? url,
    // Credentials are sent to the origin of the starts only.
    credentialsFor: async (target) =>
      recipe.sealed === null && recipe.session_id === null
        ? null
        : credentialsFor(deps, recipe, target, { elsewhere: "without" }),
    browserOptions: () => openActions(deps.seal, recipe.browser, task.url ?? url),
    ...holdAtHead(context, clock),
    ...(reads && crawl.monitor?.asksAgain === true ? {} : { beforeExtract: context.leaveSite }),
    ...(context.via === undefined ? {} : { via: context.via }),
    // Another site has its own limits: the page moves to that site's lane. A start is fetched wherever it moved to.
    followRedirects: (from, to) =>
      siteOf(from) === siteOf(to) &&
      (scope.isStart(task.key) || scope.decide(to.href, { depth, from: null }).follow) &&
      !becomesRead(crawl, task, to.href),
    mostMs: leftMs,
    mayAsk: context.mayAsk,
    memory: memoryAt(site, url, context),
    ...(recipe.respect_robots ? { robots: spacedByRobots(deps.robots, context) } : {}),
    documents: crawl.options.documents,
    keepExchanges: isArchived(crawl.options),
    isShown: (what) => crawl.shown.claim(task.row, what),
    ...(isConfiguredStart(crawl, task) ? { isList: (answer) => looksLikeList(answer.body, answer.contentType) } : {}),
    signal,
  };
  // An archive has every page as it was sent.
  const mayUseCopy = plan.way === "http" && !isArchived(crawl.options);
  const found = mayUseCopy ? await copyOf(crawl, task, url) : null;
  // What the server calls unchanged must be known to the monitor as well.
  const isCompared =
    found === null || crawl.monitor === null || !reads || (await crawl.monitor.isKnown(crawlKey(found.url)));
  const copy = isCompared ? found : null;
  let got = await getPage(deps, copy === null ? order : { ...order, conditions: copy });
  const same = copy === null ? null : await unchanged(crawl, task, copy, got, url);
  // The 304 is about another page, or the stored records are gone.
  if (same === null && isUnchanged(got)) got = await getPage(deps, order);
  got = await noticeExpiry(deps, got, recipe.session_id, order.askedUrl ?? url);
  const tookMs = clock.monotonic() - begun;
  // The end of the crawl cut it short, not the page.
  if ((got.failure?.code === "timeout" || got.failure?.reason === "llm_timeout") && tookMs >= leftMs)
    return outOfTime(neededMs);
  if (got.failure === null && got.answer?.notFollowed === undefined) time.took(tookMs);
  const answeredMs = got.answer?.headMs ?? null;
  if (got.isList === true) return { ...(await readStartList(deps, crawl, task, got.answer!, context)), answeredMs };
  const finalUrl = got.answer?.finalUrl ?? url;
  const visit = {
    key: crawlKey(got.failure === null ? finalUrl : (task.url ?? url)),
    askedKey: crawlKey(task.url ?? url),
    url: finalUrl,
    isRedirected: finalUrl !== url,
    pauseMs: crawl.pause.leftMs,
    again: async () => {
      await crawl.pause.next(signal);
      return getPage(deps, { ...order, plan: got.plan });
    },
  };
  if (same !== null)
    return { ...(crawl.monitor === null || !reads ? same : await crawl.monitor.same(same, visit)), answeredMs };
  const outcome = await concluded(deps, crawl, task, got, url, site?.learned ?? null);
  const tracked = reads ? await withTracking(deps, crawl.tracking, outcome, finalUrl, crawl.recipe) : outcome;
  const kept = crawl.fixtures === null || !reads ? tracked : await crawl.fixtures.with(tracked, got);
  const compared = crawl.monitor === null || !reads ? kept : await crawl.monitor.with(kept, got, visit, context);
  const handled = { ...compared, answeredMs };
  return isArchived(crawl.options) ? withExchange(handled, got, deps.exchanges) : handled;
}

async function concluded(
  deps: Pick<PageHandlerDeps, "evidence" | "files">,
  crawl: CrawlRun,
  task: ClaimedTask,
  got: PageGot,
  url: string,
  learned: LearnedStrategy | null,
): Promise<Handled> {
  if (got.answer?.notFollowed !== undefined) return moved(crawl, task, got);
  if (got.failure !== null) return failed(crawl, task, got, ofDocument(got.failure, url), deps.evidence);
  return withSignIn(await completed(deps.files, crawl, task, got, url, learned), got.judgement?.signIn ?? null);
}

/** A linked file that is too large is no page that failed. */
function ofDocument(what: Failure, url: string): Failure {
  const ending = fileEnding(URL.parse(url)?.pathname ?? "");
  if (what.reason !== "body_too_large" || ending === null || !isDocumentEnding(ending)) return what;
  return failure("document_too_large", `the file is too large: ${what.message}; raise APP_MAX_BODY_BYTES to read it`);
}

/** A page that is only followed: only its article is read, to detect duplicates. */
const FOLLOW_SPEC: PlanSpec = { fields: ABOUT_ARTICLE, links: false, article: true };

function followRecipe(recipe: Recipe): Recipe {
  return { ...recipe, fields: null, items: null, schema: null, extract: null, document: null };
}

function linksIn(
  judgement: Judgement | null,
  finalUrl: string,
): { finalUrl: string } & Pick<Judgement, "left"> & {
    links: Judgement["follow"];
  } {
  return { finalUrl, links: judgement?.follow ?? [], left: judgement?.left ?? [] };
}

/** Requeued until the crawl's time is over; its other tasks do not start either. */
function outOfTime(neededMs: number): Handled {
  return { kind: "handed_back", why: "the crawl reached its time limit", report: { pageMs: Math.ceil(neededMs) } };
}

async function failed(
  crawl: CrawlRun,
  task: ClaimedTask,
  { plan, answer, judgement, evidence }: PageGot,
  what: Failure,
  keeper: PageHandlerDeps["evidence"],
): Promise<Handled> {
  const crashed = freeCrash(task, plan, what);
  if (crashed !== null) return crashed;
  const report: Report = {
    strategy: plan.way,
    ...(await evidenceOf(crawl, task, what, () => keeper.keep(task.nextUrl ?? task.url ?? "", what, evidence, answer))),
    ...memoryOf(plan),
    ...escalationAfter(plan, what),
    // A page that lacks a required field may be the list that leads to pages that have it.
    ...(answer === null ? {} : linksOf(crawl, task, linksIn(judgement, answer.finalUrl))),
  };
  return { kind: "failed", failure: what, report };
}

/** Keeps evidence of some failures of each kind, and drops that of an earlier, different failure of the same task. */
async function evidenceOf(
  { shown }: CrawlRun,
  { row }: ClaimedTask,
  what: Failure,
  keep: () => Promise<readonly TaskArtifact[]>,
): Promise<Pick<Report, "evidence">> {
  const evidence = shown.claim(row, what) ? await keep() : [];
  if (evidence.length === 0) return shown.leave(row) ? { evidence } : {};
  shown.keep(row);
  return { evidence };
}

async function completed(
  files: PageHandlerDeps["files"],
  crawl: CrawlRun,
  task: ClaimedTask,
  got: PageGot,
  url: string,
  known: LearnedStrategy | null,
): Promise<Handled> {
  const { plan, answer, judgement, extract } = got;
  const { depth } = task.payload as CrawlPayload;
  const extraction = judgement?.extraction ?? null;
  const finalUrl = answer?.finalUrl ?? url;
  const { links, left } = linksIn(judgement, finalUrl);
  const reads = isRead(crawl, task);
  const content = extraction === null ? null : contentOf(crawl, extraction);
  // On a mixed site, another plain page teaches nothing new; a document says nothing about the site's pages.
  const isNoLesson = (plan.way === "http" && known?.mixed === true) || answer?.document !== undefined;
  const learned = isNoLesson ? null : lessonOf(url, plan);
  // Conditional requests are plain requests: they work for pages fetched by one.
  const clue = judgement?.goal;
  const kept = { links, content, ...(clue === undefined ? {} : { goal: clue }) };
  const copy = plan.way === "http" && extraction !== null ? crawl.copies?.make(answer!, kept) : null;
  const goal = clue === undefined ? null : (crawl.goal?.read(task, clue, finalUrl) ?? null);
  const items =
    extraction === null || !reads
      ? []
      : itemsOf(crawl, extraction, finalUrl, depth, judgement!.records, answer?.document).map(withRelevance(goal));
  const page = reads
    ? await crawl.changes?.compare(finalUrl, finalUrl !== url, items, content?.hash ?? null)
    : undefined;
  if (page?.change === "unchanged" && crawl.options.only_changed === true)
    return sameAgain(
      crawl,
      task,
      got,
      { url, finalUrl, links, left, content, goal },
      { page, copy: copy ?? null, learned },
    );
  return {
    kind: "completed",
    ...(await withDocument(files, got, withChange(crawl, items, page?.change), task.url ?? url)),
    ...(answer === null ? {} : { httpStatus: answer.status }),
    detail:
      answer === null
        ? null
        : {
            bytes: Buffer.byteLength(receivedOf(answer).body),
            ...(finalUrl === url ? {} : movesOf(answer)),
            ...(reads ? {} : { followed_only: true }),
            ...(goal === null ? {} : { relevance: goal.relevance }),
            ...(extract === undefined ? {} : { extract }),
          },
    report: {
      strategy: plan.way,
      ...reportOf(crawl, task, { url, finalUrl, links, left, content, goal }),
      ...(learned === null ? {} : { learned }),
      ...(crawl.copies === null ? {} : { copy: copy ?? null }),
      ...(page === undefined ? {} : { page }),
    },
  };
}

function withRelevance(goal: GoalRead | null): <T extends object>(record: T) => T {
  return (record) => (goal === null ? record : { ...record, relevance: goal.relevance });
}

/** The page was loaded and has not changed since the job's last run: it gives no records. */
function sameAgain(
  crawl: CrawlRun,
  task: ClaimedTask,
  { plan, answer }: PageGot,
  rest: Parameters<typeof reportOf>[2],
  {
    learned,
    ...pageReport
  }: Required<Pick<Report, "page" | "copy">> & { learned: NonNullable<Report["learned"]> | null },
): Handled {
  return {
    kind: "completed",
    artifacts: [],
    results: [],
    httpStatus: answer!.status,
    detail: {
      unchanged: true,
      ...(rest.finalUrl === rest.url ? {} : movesOf(answer!)),
      ...(rest.goal === undefined || rest.goal === null ? {} : { relevance: rest.goal.relevance }),
    },
    report: {
      strategy: plan.way,
      ...reportOf(crawl, task, rest),
      ...(learned === null ? {} : { learned }),
      ...pageReport,
    },
  };
}

/** The stored version of the page; null: the server does not confirm it, or the copy is unusable. */
async function unchanged(
  crawl: CrawlRun,
  task: ClaimedTask,
  copy: PageCopyRecord,
  got: PageGot,
  url: string,
): Promise<Handled | null> {
  const { answer } = got;
  const page = answer !== null && isUnchanged(got) ? await crawl.copies!.open(copy, answer) : null;
  if (answer === null || page === null) return null;
  const { finalUrl } = answer;
  const { depth } = task.payload as CrawlPayload;
  const state = isRead(crawl, task) ? await crawl.changes?.same(finalUrl, finalUrl !== url, page) : undefined;
  const goal = page.goal === undefined ? null : (crawl.goal?.read(task, page.goal, finalUrl) ?? null);
  const links = readRobotsDirectives(answer.headers["x-robots-tag"] ?? "").nofollow ? [] : page.links;
  return {
    kind: "completed",
    artifacts: [],
    // Its depth may differ from before, and each run finds its own duplicates.
    results: page.records
      .map((record) => ({ ...without(record, "duplicate_of"), depth, unchanged: true }))
      .map(withRelevance(goal)),
    httpStatus: answer.status,
    detail: {
      unchanged: true,
      ...(finalUrl === url ? {} : movesOf(answer)),
      ...(goal === null ? {} : { relevance: goal.relevance }),
    },
    report: {
      strategy: got.plan.way,
      ...reportOf(crawl, task, { url, finalUrl, links, content: page.content, goal }),
      copy: crawl.copies!.renew(copy, answer),
      ...(state === undefined ? {} : { page: state }),
      unchanged: true,
    },
  };
}
