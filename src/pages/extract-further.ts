/** Extraction beyond rules: by a language model or a user's extractor. */
import type { Clock } from "../base/clock.ts";
import { type ExtractStats, type ExtractRequest, extractRequestOf } from "../domain/page/extract-request.ts";
import { FetchFailure, failure } from "../domain/run/failure.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Recipe } from "../domain/run/recipe.ts";
import { decodeBody } from "../domain/text/charset.ts";
import type { ExtractorPage } from "../extract/define-extractor.ts";
import type { LlmExtractor } from "../extract/llm/extractor.ts";
import type { Extraction } from "../extract/page.ts";
import type { ExtractionProblem } from "../extract/rules/evaluate.ts";
import { compileSchema, recordProblems } from "../extract/schema.ts";
import { extractionFailure } from "./extraction-failure.ts";

/** Extractors besides the rules; null: not configured. */
export interface PageExtractors {
  llm: LlmExtractor | null;
  /** Calls an extractor of the user's module by name. Throws a FetchFailure, also for an unknown name. */
  user: ((name: string, page: ExtractorPage, signal: AbortSignal) => Promise<Record<string, JsonValue>[]>) | null;
}

export interface FurtherDeps {
  clock: Clock;
  extractors: PageExtractors;
}

interface FurtherOrder {
  recipe: Pick<Recipe, "extract" | "schema" | "fields">;
  url: string;
  page: FurtherPage;
  signal: AbortSignal;
  /** Called when the requests to the site are done and extraction starts. */
  beforeExtract?: () => void;
  /** Remaining time. */
  mostMs?: number;
}

/** The page as fetched. */
interface FurtherPage {
  /** null: the page was supplied, not fetched. */
  status: number | null;
  headers: Readonly<Record<string, string>>;
  contentType: string | null;
  body: Uint8Array | string;
}

interface ReadFurther {
  /** Final records, unless there is a failure. */
  records: Record<string, JsonValue>[];
  errors: readonly ExtractionProblem[];
  failure: ReturnType<typeof failure> | null;
  stats: ExtractStats;
}

/** Whether the recipe uses an extractor besides the rules. */
export function isReadFurther(recipe: Pick<Recipe, "extract">): boolean {
  return extractRequestOf(recipe) !== null;
}

/** Merges the results of rules and extractor into one record. Throws only errors that end the attempt itself. */
export async function extractFurther(
  deps: FurtherDeps,
  order: FurtherOrder,
  extraction: Extraction,
): Promise<ReadFurther> {
  const request = extractRequestOf(order.recipe)!;
  const stats: ExtractStats = { extractor: "llm" in request ? "llm" : request.name, duration_ms: 0 };
  const startedAt = deps.clock.monotonic();
  const limit = timeLimit(deps.clock, order, request);
  const stopTimer = () => (stats.duration_ms = Math.round(deps.clock.monotonic() - startedAt));
  try {
    const found = await extracted(deps, request, order, extraction, stats, limit.signal);
    stopTimer();
    const [rules = {}] = extraction.records;
    return {
      ...checked(
        order,
        found.map((record) => ({ ...rules, ...record })),
      ),
      stats,
    };
  } catch (thrown) {
    stopTimer();
    const error: unknown = limit.signal.aborted ? limit.signal.reason : thrown;
    if (!(error instanceof FetchFailure) || order.signal.aborted) throw thrown;
    const { reason, message, retryAfterMs } = error.failure;
    const text = "llm" in request ? message : `the extractor ${request.name}: ${message}`;
    const what = failure(reason, text, { httpStatus: order.page.status ?? undefined, retryAfterMs });
    return { records: [], errors: [], failure: what, stats };
  } finally {
    limit.end();
  }
}

async function extracted(
  { extractors }: FurtherDeps,
  request: ExtractRequest,
  order: FurtherOrder,
  { title, source }: Extraction,
  stats: ExtractStats,
  signal: AbortSignal,
): Promise<Record<string, JsonValue>[]> {
  const { llm, user } = extractors;
  if (!("llm" in request)) {
    if (user === null) throw new FetchFailure("handler_missing", "not available, because APP_HANDLERS is not set");
    return user(request.name, toExtractorPage(order, request.params, title, source?.markdown ?? ""), signal);
  }
  if (llm === null)
    throw new FetchFailure("llm_refused", "no model is configured: set APP_LLM_URL (and APP_LLM_KEY, APP_LLM_MODEL)");
  if (llm.endpoint.hasRoomInLine) order.beforeExtract?.();
  const page = { url: order.url, title, markdown: source?.markdown ?? "", cut: source?.cut ?? false };
  return llm.extract(request.llm, page, stats, signal);
}

function toExtractorPage(
  { url, page }: FurtherOrder,
  params: JsonValue = {},
  title: string | null,
  markdown: string,
): ExtractorPage {
  const { status, headers, contentType, body } = page;
  const html = typeof body === "string" ? body : decodeBody(body, contentType).text;
  return { url, status, headers, content_type: contentType, title, html, markdown, params };
}

function checked({ recipe, page }: FurtherOrder, records: Record<string, JsonValue>[]) {
  const { schema = null } = recipe;
  if (schema === null) return { records, errors: [], failure: null };
  const check = compileSchema(schema);
  const errors = records.flatMap((record, index) => recordProblems(check, record, index)).slice(0, MAX_PROBLEMS);
  return { records, errors, failure: errors.length === 0 ? null : extractionFailure(errors, page.status ?? undefined) };
}

const MAX_PROBLEMS = 100;

/** Combines the attempt's signal with the remaining time. */
function timeLimit(
  clock: Clock,
  { signal, mostMs }: FurtherOrder,
  request: ExtractRequest,
): { signal: AbortSignal; end(): void } {
  if (mostMs === undefined || !Number.isFinite(mostMs)) return { signal, end: () => {} };
  const over = new AbortController();
  const reason = "llm" in request ? "llm_timeout" : "handler_timeout";
  const timer = clock.after(mostMs, () =>
    over.abort(new FetchFailure(reason, "the time limit of the page was reached")),
  );
  return { signal: AbortSignal.any([signal, over.signal]), end: () => timer.cancel() };
}
