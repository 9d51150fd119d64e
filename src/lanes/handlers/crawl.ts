import { without } from "../../base/without.ts";
import { type Clock, sleep } from "../../base/clock.ts";
import type { CrawlPayload } from "../../domain/crawl-options.ts";
import { crawlKey } from "../../domain/crawl-scope.ts";
import type { Failure } from "../../domain/failure.ts";
import { laneOfSite } from "../../domain/lane.ts";
import type { Discovered, Handled, Report, RunEvent, TaskArtifact } from "../../domain/outcome.ts";
import type { LearnedStrategy } from "../../domain/run-facts.ts";
import { recipeAt } from "../../domain/site-wishes.ts";
import { type PageMemory, planStrategy } from "../../domain/strategy-plan.ts";
import { shownUrl, siteOf } from "../../domain/url.ts";
import { readRobotsDirectives } from "../../domain/robots-directives.ts";
import type { FollowLink } from "../../extract/follow.ts";
import { looksLikeList } from "../../extract/sitemap-file.ts";
import type { PageAnswer } from "../../fetch/page.ts";
import { credentialsFor } from "../../pages/access.ts";
import { withDocument } from "../../pages/document.ts";
import { getPage, isUnchanged, type PageGot, type PageOrder } from "../../pages/get-page.ts";
import type { PageCopyRecord } from "../../store/crawl-port.ts";
import type { ClaimedTask } from "../../store/port.ts";
import type { SiteRecord } from "../../store/site-records.ts";
import { holdAtHead } from "./hold-at-head.ts";
import { copyOf, withChange } from "./crawl-changes.ts";
import { isArchived, withExchange } from "./archive.ts";
import { contentOf, itemsOf } from "./crawl-items.ts";
import type { CrawlRun, CrawlRuns } from "./crawl-runs.ts";
import type { HandlerContext, TaskHandler } from "./handler.ts";
import type { PageHandlerDeps } from "./page.ts";
import type { PageRest } from "./page-copies.ts";
import { escalationAfter, freeCrash, lessonOf, memoryOf } from "./page-lessons.ts";
import { withOverride } from "./robots-override.ts";
import { memoryAt } from "./site-memory.ts";
import { isGivenStart, readStartList } from "./start-list.ts";
import { spacedByRobots } from "./spacing.ts";

/** A page of a crawl: got as any page is, read, and its links handed on. */
export function crawlHandler(deps: PageHandlerDeps, crawls: CrawlRuns): TaskHandler {
  return {
    strategy: "http",
    run: async (task, context) => {
      const crawl = await crawls.of(task.runId);
      const site = await crawls.sites.of(siteOf(task.nextUrl ?? task.url ?? ""));
      const handled = await attempt(deps, crawl, task, site, context);
      return handOnMany(deps.clock, withOverride(crawl, site, handled), context);
    },
    onWritten: ({ task, report, verdict }) => {
      // Its scope has grown.
      if (report?.run?.facts.moved_starts !== undefined) crawls.drop(task.runId);
      if (verdict.kind === "completed") crawls.recovered(task.runId, task.row);
      const keys = report?.discovered?.map(({ key }) => key) ?? [];
      if (keys.length > 0) crawls.keep(task.runId, keys);
    },
  };
}

/** More than these are handed on in pieces: others wait for the transaction in which they become tasks. */
const MOST_AT_ONCE = 500;

async function handOnMany(clock: Clock, handled: Handled, context: HandlerContext): Promise<Handled> {
  const found = handled.report?.discovered ?? [];
  let from = 0;
  // Whoever is interrupted begins again: what is known is not added twice.
  for (; found.length - from > MOST_AT_ONCE; from += MOST_AT_ONCE) {
    await context.handOn({ found: found.slice(from, from + MOST_AT_ONCE), asideLimit: 0 });
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
  const recipe = recipeAt(crawl.recipe, site);
  const timeoutMs = plan.way === "browser" ? limits.browserTimeoutMs : limits.httpTimeoutMs;
  await crawl.pause.next(signal);
  const leftMs = await time.leftMs(timeoutMs);
  const neededMs = time.neededMs(timeoutMs);
  if (leftMs <= neededMs) return outOfTime(neededMs);
  const begun = clock.monotonic();
  const order: PageOrder = {
    recipe,
    plan,
    spec: crawl.spec,
    follow: {
      crawl: crawl.name,
      scope: crawl.scopeText,
      // The next run of a saved crawl must find its way without the page.
      all: crawl.copies !== null,
      tooDeep: !scope.goesDeeperThan(depth),
    },
    shareKey: task.runId,
    url,
    // What was given for the origin of the starts is sent to no other.
    credentialsFor: async (target) => (recipe.sealed === null ? null : credentialsFor(deps, recipe, target, undefined)),
    ...holdAtHead(context, clock),
    beforeExtract: context.leaveSite,
    ...(context.via === undefined ? {} : { via: context.via }),
    // Another site has limits of its own: the page moves to that site's lane. A start is wanted wherever it lives.
    followRedirects: (from, to) =>
      siteOf(from) === siteOf(to) && (scope.isStart(task.key) || scope.decide(to.href, { depth, from: null }).follow),
    mostMs: leftMs,
    mayAsk: context.mayAsk,
    memory: memoryAt(site, url, context),
    ...(recipe.respect_robots ? { robots: spacedByRobots(deps.robots, context) } : {}),
    keepExchanges: isArchived(crawl.options),
    isShown: (what) => crawl.shown.claim(task.row, what),
    ...(isGivenStart(crawl, task) ? { isList: (answer) => looksLikeList(answer.body, answer.contentType) } : {}),
    signal,
  };
  // An archive has every page as it was sent.
  const mayBeKnown = plan.way === "http" && !isArchived(crawl.options);
  const copy = mayBeKnown ? await copyOf(crawl, task, url) : null;
  let got = await getPage(deps, copy === null ? order : { ...order, conditions: copy });
  const same = copy === null ? null : await unchanged(crawl, task, copy, got, url);
  // It was said of another page, or of one whose records have gone since.
  if (same === null && isUnchanged(got)) got = await getPage(deps, order);
  const tookMs = clock.monotonic() - begun;
  // It was cut short by the end of the crawl, and not by the page's own fault.
  if ((got.failure?.code === "timeout" || got.failure?.reason === "llm_timeout") && tookMs >= leftMs)
    return outOfTime(neededMs);
  if (got.failure === null && got.answer?.notFollowed === undefined) time.took(tookMs);
  const answeredMs = got.answer?.headMs ?? null;
  if (got.isList === true) return { ...(await readStartList(deps, crawl, task, got.answer!, context)), answeredMs };
  if (same !== null) return { ...same, answeredMs };
  const handled = { ...(await concluded(deps, crawl, task, got, url, site?.learned ?? null)), answeredMs };
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
  if (got.failure !== null) return failed(crawl, task, got, got.failure, deps.evidence);
  return completed(deps.files, crawl, task, got, url, learned);
}

/** The task stays in the queue until the crawl's time is over; none of its others is begun, either. */
function outOfTime(neededMs: number): Handled {
  return { kind: "handed_back", why: "the crawl's time is over", report: { pageMs: Math.ceil(neededMs) } };
}

/** A redirect that leads to another site, or to where robots.txt does not let us. */
function moved(crawl: CrawlRun, task: ClaimedTask, { answer, plan, failure }: PageGot): Handled {
  const to = answer!.notFollowed!;
  const report: Report = { strategy: plan.way };
  const depth = (task.payload as CrawlPayload).depth;
  const decision = crawl.scope.decide(to, { depth, from: null });
  if (!decision.follow)
    return crawl.scope.isStart(task.key) && decision.why !== "not_http" && decision.why !== "too_long"
      ? startMoved(crawl, task, answer!, report)
      : { kind: "skipped", why: `redirects to ${to}, which the crawl leaves (${decision.why})`, report };
  if (siteOf(to) === siteOf(answer!.finalUrl)) return { kind: "failed", failure: failure!, report };
  const hops = [...answer!.redirects.map(({ from }) => from), answer!.finalUrl];
  const { url, key } = decision;
  return {
    kind: "moved",
    url,
    redirects: hops,
    httpStatus: answer!.status,
    report: { ...report, landed: { key, url } },
  };
}

/** A start is wanted wherever it lives: the place it has moved to is a start of the crawl from now on. */
function startMoved(crawl: CrawlRun, task: ClaimedTask, answer: PageAnswer, report: Report): Handled {
  const url = answer.notFollowed!;
  crawl.movedStarts.push(url);
  const from = shownUrl(answer.finalUrl);
  const event: RunEvent = {
    level: "info",
    message: `Start moved: ${from} redirects to ${shownUrl(url)}`,
    meta: { from, to: shownUrl(url), task_id: task.id },
  };
  return {
    kind: "moved",
    url,
    redirects: [...answer.redirects.map((hop) => hop.from), answer.finalUrl],
    httpStatus: answer.status,
    report: {
      ...report,
      landed: { key: crawlKey(url), url },
      run: { events: [event], facts: { moved_starts: [...crawl.movedStarts] } },
    },
  };
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
  const { depth } = task.payload as CrawlPayload;
  const report: Report = {
    strategy: plan.way,
    ...(await evidenceOf(crawl, task, what, () => keeper.keep(task.nextUrl ?? task.url ?? "", what, evidence, answer))),
    ...memoryOf(plan),
    ...escalationAfter(plan, what),
    // What lacks a field may be the list that leads to what has it.
    ...(answer === null ? {} : linksOf(crawl, judgement?.follow ?? [], answer.finalUrl, depth)),
  };
  return { kind: "failed", failure: what, report };
}

/** Of many that fail alike some are shown; one that failed otherwise before shows that no more. */
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
  const links = judgement?.follow ?? [];
  const content = extraction === null ? null : contentOf(crawl, extraction);
  // Where some pages need a browser and others do not, the plain ones teach nothing more.
  const learned = plan.way === "http" && known?.mixed === true ? null : lessonOf(url, plan);
  // Only what a plain request gave can be asked about by one.
  const copy = plan.way === "http" && extraction !== null ? crawl.copies?.make(answer!, { links, content }) : null;
  const items = extraction === null ? [] : itemsOf(crawl, extraction, finalUrl, depth, judgement!.records);
  const page = await crawl.changes?.compare(finalUrl, finalUrl !== url, items, content?.hash ?? null);
  if (page?.change === "unchanged" && crawl.options.only_changed === true)
    return sameAgain(crawl, task, got, { url, finalUrl, links, content }, { page, copy: copy ?? null, learned });
  return {
    kind: "completed",
    ...(await withDocument(files, got, withChange(crawl, items, page?.change), task.url ?? url)),
    ...(answer === null ? {} : { httpStatus: answer.status }),
    detail:
      answer === null
        ? null
        : {
            bytes: Buffer.byteLength(answer.body),
            ...(finalUrl === url ? {} : movesOf(answer)),
            ...(extract === undefined ? {} : { extract }),
          },
    report: {
      strategy: plan.way,
      ...reportOf(crawl, task, { url, finalUrl, links, content }),
      ...(learned === null ? {} : { learned }),
      ...(crawl.copies === null ? {} : { copy: copy ?? null }),
      ...(page === undefined ? {} : { page }),
    },
  };
}

/** The page was loaded, and says what it said when the job came to it last: there is nothing to tell. */
function sameAgain(
  crawl: CrawlRun,
  task: ClaimedTask,
  { plan, answer }: PageGot,
  rest: { url: string; finalUrl: string } & PageRest,
  { learned, ...told }: Required<Pick<Report, "page" | "copy">> & { learned: NonNullable<Report["learned"]> | null },
): Handled {
  return {
    kind: "completed",
    artifacts: [],
    results: [],
    httpStatus: answer!.status,
    detail: { unchanged: true, ...(rest.finalUrl === rest.url ? {} : movesOf(answer!)) },
    report: {
      strategy: plan.way,
      ...reportOf(crawl, task, rest),
      ...(learned === null ? {} : { learned }),
      ...told,
    },
  };
}

/** The page as it was before; null: the server does not say so, or what was kept of it is of no use. */
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
  const state = await crawl.changes?.same(finalUrl, finalUrl !== url, page);
  const links = readRobotsDirectives(answer.headers["x-robots-tag"] ?? "").nofollow ? [] : page.links;
  return {
    kind: "completed",
    artifacts: [],
    // It may have been found on another level than before, and which other pages say the same is this run's business.
    results: page.records.map((record) => ({ ...without(record, "duplicate_of"), depth, unchanged: true })),
    httpStatus: answer.status,
    detail: { unchanged: true, ...(finalUrl === url ? {} : movesOf(answer)) },
    report: {
      strategy: got.plan.way,
      ...reportOf(crawl, task, { url, finalUrl, links, content: page.content }),
      copy: crawl.copies!.renew(copy, answer),
      ...(state === undefined ? {} : { page: state }),
      unchanged: true,
    },
  };
}

function movesOf({ finalUrl, redirects }: PageAnswer): { final_url: string; redirects: string[] } {
  return { final_url: finalUrl, redirects: redirects.map(({ from }) => from) };
}

/** What the crawl learns from a page that it has, whether or not it had to be loaded. */
function reportOf(
  crawl: CrawlRun,
  task: ClaimedTask,
  { url, finalUrl, links, content }: { url: string; finalUrl: string } & PageRest,
): Report {
  const { depth } = task.payload as CrawlPayload;
  const found = linksOf(crawl, links, finalUrl, depth);
  if (content !== null && !crawl.given.wasFoundBefore(content.hash, task.row)) crawl.scope.earn(url);
  const traps = crawl.traps.toKeep();
  return {
    ...found,
    ...(finalUrl === url ? {} : { landed: { key: crawlKey(finalUrl), url: finalUrl } }),
    ...(content?.isTelling === true ? { content: content.hash } : {}),
    ...(traps === null ? {} : { traps }),
  };
}

/** The store looks for each of them until it finds one that it does not know. */
const MOST_TOO_DEEP = 1000;

/** The pages that this one leads to, without those that are in the store already. */
function linksOf(
  crawl: CrawlRun,
  links: readonly FollowLink[],
  from: string,
  depth: number,
): Pick<Report, "discovered" | "tooDeep"> {
  const { scope, counted, kept } = crawl;
  if (links.length === 0 || crawl.options.follow_links === false) return {};
  if (!scope.goesDeeperThan(depth)) {
    const tooDeep = links.map(({ key }) => key).filter((key) => !kept.has(key));
    return tooDeep.length === 0 ? {} : { tooDeep: tooDeep.slice(0, MOST_TOO_DEEP) };
  }
  const discovered: Discovered[] = [];
  for (const link of links) {
    if (kept.has(link.key)) continue;
    // What is left because of a trap may be followed after all when it is found on a page of another kind.
    if (!counted.has(link.key) && scope.admit(link, { depth: depth + 1, from }) !== null) continue;
    counted.add(link.key);
    const site = siteOf(link.url);
    discovered.push({ ...link, site, lane: laneOfSite(site), depth: depth + 1 });
  }
  return discovered.length === 0 ? {} : { discovered };
}
