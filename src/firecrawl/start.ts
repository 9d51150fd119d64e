/** A crawl or a batch is an ordinary run: on disk when this answers, seen in the dashboard, and done as every other. */
import { canonicalJson } from "../base/canonical-json.ts";
import { isOrbError } from "../base/errors.ts";
import type { TrackingRequest } from "../domain/monitor/tracking.ts";
import { SEALED_FOR_WEBHOOK, type WebhookTarget } from "../domain/run/webhooks.ts";
import { crawlOptionsFrom } from "../orchestrator/crawls/options.ts";
import { newCrawlRun } from "../orchestrator/crawls/start.ts";
import { admitCrawls } from "../orchestrator/crawls/turns.ts";
import { refuseForbidden } from "../orchestrator/jobs/input.ts";
import type { NewRun, RunRecord } from "../store/ports/port.ts";
import type { CrawlAsk } from "./crawl-options.ts";
import type { FirecrawlDeps, FirecrawlMark } from "./deps.ts";
import { FirecrawlFault } from "./fault.ts";
import { refuseLongWaits, type ScrapeAsk } from "./scrape-options.ts";
import type { WebhookAsk } from "./webhook-options.ts";

export async function startAsked(
  deps: FirecrawlDeps,
  { kind, input, scrape, webhook }: CrawlAsk,
  { base, idempotencyKey }: { base: string; idempotencyKey: string | undefined },
): Promise<RunRecord> {
  // Nobody waits for these: a page has the time that the server gives it.
  if (scrape.recipe.browser !== undefined) {
    const { limits } = await deps.pages();
    const within = kind === "crawl" ? "scrapeOptions." : "";
    refuseLongWaits(scrape, limits.browserTimeoutMs, "APP_BROWSER_NAV_TIMEOUT_MS", within);
  }
  const { run, tasks } = newCrawlRun(deps, crawlOptionsFrom(deps, input));
  const mark: FirecrawlMark = { kind, json: scrape.json, tracking: scrape.tracking };
  const asked: NewRun = {
    ...run,
    temporary: true,
    snapshot: { ...(run.snapshot as object), ...trackingOf(deps, scrape), firecrawl: mark },
    ...(webhook === null ? {} : { webhook: sealedWebhook(deps, webhook, base) }),
    ...reuseOf(deps, scrape),
  };
  const idempotency =
    idempotencyKey === undefined
      ? undefined
      : { key: idempotencyKey, fingerprint: deps.seal.mark(canonicalJson(input)) };
  const { created, replayed } = await deps.store
    .startRun(asked, tasks, deps.clock.now(), idempotency)
    .catch(usedBefore);
  // Theirs is a lock rather than a repetition: a repeated key is rejected.
  if (replayed) throw keyUsed();
  await admitCrawls(deps);
  return created;
}

function usedBefore(error: unknown): never {
  throw isOrbError(error, "idempotency_conflict") ? keyUsed() : error;
}

function keyUsed(): FirecrawlFault {
  return new FirecrawlFault(409, "Idempotency key already used", { code: "IDEMPOTENCY_KEY_USED" });
}

function sealedWebhook(
  deps: FirecrawlDeps,
  { url, headers, metadata, events }: WebhookAsk,
  base: string,
): NewRun["webhook"] & object {
  refuseForbidden("webhook.url", url, deps.policy);
  const target: WebhookTarget = { url, headers, metadata, base, format: "firecrawl" };
  return { events, sealed: deps.seal.close(target, SEALED_FOR_WEBHOOK) };
}

/** Pages are comparable if they were asked for with the same tag, in the same way. */
export function trackingOf(
  { seal }: Pick<FirecrawlDeps, "seal">,
  { recipe, tracking }: ScrapeAsk,
): { tracking?: TrackingRequest } {
  if (tracking === null) return {};
  const { document, headers = null, browser = null } = recipe;
  const { only_main_content, include_tags, exclude_tags } = document ?? {};
  const way = { tag: tracking.tag, only_main_content, include_tags, exclude_tags, headers, browser };
  return { tracking: { scope: seal.mark(`tracking ${canonicalJson(way as never)}`) } };
}

/** Pages that were got with headers of the caller's are the caller's alone. */
export function reuseOf(deps: Pick<FirecrawlDeps, "seal">, ask: ScrapeAsk): Pick<NewRun, "reuse"> {
  return ask.store && ask.recipe.headers === undefined ? { reuse: reuseMark(deps, ask) } : {};
}

export function reuseMark({ seal }: Pick<FirecrawlDeps, "seal">, { recipe, json }: ScrapeAsk): string {
  return seal.mark(`firecrawl ${canonicalJson({ recipe, json } as never)}`);
}
