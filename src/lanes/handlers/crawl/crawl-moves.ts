/** Redirected pages of a crawl. */
import type { CrawlPayload } from "../../../domain/crawl/crawl-options.ts";
import { crawlKey } from "../../../domain/crawl/crawl-scope.ts";
import type { Handled, Report, RunEvent } from "../../../domain/run/outcome.ts";
import { signInAhead } from "../../../domain/page/sign-in.ts";
import { shownUrl, siteOf } from "../../../domain/text/url.ts";
import type { PageAnswer } from "../../../fetch/page.ts";
import type { PageGot } from "../../../pages/get-page.ts";
import type { ClaimedTask } from "../../../store/ports/port.ts";
import type { CrawlRun } from "./crawl-runs.ts";
import { withSignIn } from "./crawl-sign-in.ts";

/** Whether a page gives records, by the address that was found or the one it has moved to. */
export function isRead({ scope }: Pick<CrawlRun, "scope">, { url, nextUrl }: ClaimedTask): boolean {
  return [url, nextUrl].some((address) => address !== null && address !== undefined && scope.reads(address));
}

/** A page that is only followed redirects to one that is read: it is fetched again there, to be read. */
export function becomesRead(crawl: Pick<CrawlRun, "scope">, task: ClaimedTask, to: string): boolean {
  return !isRead(crawl, task) && crawl.scope.reads(to);
}

/** A redirect to another site, or to a URL that robots.txt disallows. */
export function moved(crawl: CrawlRun, task: ClaimedTask, { answer, plan, failure }: PageGot): Handled {
  const to = answer!.notFollowed!;
  const report: Report = { strategy: plan.way };
  const depth = (task.payload as CrawlPayload).depth;
  const decision = crawl.scope.decide(to, { depth, from: null });
  if (!decision.follow)
    return crawl.scope.isStart(task.key) && decision.why !== "not_http" && decision.why !== "too_long"
      ? startMoved(crawl, task, answer!, report)
      : withSignIn(
          { kind: "skipped", why: `redirects to ${to}, which the crawl skips (${decision.why})`, report },
          signInAhead(task.url ?? answer!.finalUrl, to),
        );
  // On the same site, only robots.txt or a page that is to be read ends the redirect.
  if (siteOf(to) === siteOf(answer!.finalUrl) && !becomesRead(crawl, task, to))
    return { kind: "failed", failure: failure!, report };
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

/** A start is fetched wherever it moved to: its new address becomes a start of the crawl. */
function startMoved(crawl: CrawlRun, task: ClaimedTask, answer: PageAnswer, report: Report): Handled {
  const url = answer.notFollowed!;
  crawl.movedStarts.push(url);
  const from = shownUrl(answer.finalUrl);
  const event: RunEvent = {
    type: "crawl.start_moved",
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

export function movesOf({ finalUrl, redirects }: PageAnswer): { final_url: string; redirects: string[] } {
  return { final_url: finalUrl, redirects: redirects.map(({ from }) => from) };
}
