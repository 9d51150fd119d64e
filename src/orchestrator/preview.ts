import { yieldToEventLoop } from "../base/process/event-loop.ts";
import { without } from "../base/without.ts";
import type { ExtractStats } from "../domain/page/extract-request.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import type { Recipe, StrategyName } from "../domain/run/recipe.ts";
import { openActions } from "../domain/page/secret-actions.ts";
import { recipeAt } from "../domain/site/site-options.ts";
import { planStrategy } from "../domain/page/strategy-plan.ts";
import { shownUrl, siteOf } from "../domain/text/url.ts";
import { decodeBody } from "../domain/text/charset.ts";
import type { Extraction, PageInput } from "../extract/page.ts";
import type { ExtractionProblem } from "../extract/rules/evaluate.ts";
import { type PageAnswer, receivedOf } from "../fetch/page.ts";
import type { AddressPolicy } from "../net/address.ts";
import { extractFurther, isReadFurther } from "../pages/extract-further.ts";
import { planSpecOf } from "../pages/judge.ts";
import { credentialsFor } from "../pages/access.ts";
import { getPage, type PageDeps, type PageGot } from "../pages/get-page.ts";
import { noticeExpiry } from "../pages/session-expiry.ts";
import { requireSiteNotHeld } from "./sites/held-sites.ts";
import type { JobDeps } from "./jobs/deps.ts";
import { invalid } from "./invalid.ts";
import { requireExtractor } from "./jobs/extractor-input.ts";
import { pageJobFrom, type JobInput } from "./jobs/input.ts";
import { readFile } from "./read-file.ts";
import { withPageSession } from "./session-for-page.ts";

/** Fetches and parses pages for use cases that answer at once instead of queueing a task. */
export interface PreviewDeps extends JobDeps {
  /** Fetches and reads pages; created on first use. */
  pages(): Promise<PageDeps>;
}

export interface PreviewInput {
  url?: string;
  /** Page content, instead of fetching; `url` is then only the base of its links. */
  html?: string;
  /** Content of a file in Base64, such as a PDF, instead of fetching. */
  file?: string;
  /** Name of `file`; decides where its content does not. */
  file_name?: string;
  /** Content type of `html` or `file`. */
  content_type?: string;
  /** Include the fetched page in the response. */
  include_html?: boolean;
  fields?: JsonValue;
  items?: JsonValue;
  schema?: JsonValue;
  extract?: JsonValue;
  strategy?: Exclude<StrategyName, "api_replay">;
  timeout_seconds?: number;
  /** What a browser waits for and does before the page is read. */
  browser?: NonNullable<JobInput["browser"]> | null;
  headers?: NonNullable<JobInput["headers"]> | null;
  cookies?: NonNullable<JobInput["cookies"]> | null;
  /** The id or name of a stored session for the request. */
  session_id?: string | null;
}

export interface PreviewView {
  url: string | null;
  final_url: string | null;
  http_status: number | null;
  strategy: string | null;
  strategy_evidence: Record<string, unknown> | null;
  title: string | null;
  records: Record<string, JsonValue>[];
  /** Why the page, or a record of it, would fail. */
  failure_code: string | null;
  failure_reason: string | null;
  error_message: string | null;
  errors: ExtractionProblem[];
  warnings: ExtractionProblem[];
  /** Statistics of the model or extractor; null: none was used. */
  extract: ExtractStats | null;
  /** The page as text, if requested. */
  html: string | null;
  content_type: string | null;
  /** `pdf`, `docx` …; null: a page. */
  document_type: string | null;
  duration_ms: number;
}

const HTML = "text/html; charset=utf-8";

/** A supplied page is not fetched. */
const NOTHING_IS_FETCHED: AddressPolicy = { privateNetworks: true, listed: [] };

/** Tests extraction rules on a page without storing anything. */
export async function previewExtraction(
  deps: PreviewDeps,
  input: PreviewInput,
  signal: AbortSignal,
): Promise<PreviewView> {
  const begun = deps.clock.monotonic();
  const elapsed = () => Math.round(deps.clock.monotonic() - begun);
  if (input.file !== undefined) return { ...(await previewFile(deps, input, signal)), duration_ms: elapsed() };
  if (input.html !== undefined) return { ...(await previewHtml(deps, input, signal)), duration_ms: elapsed() };
  if (input.url === undefined) throw invalid([{ path: "url", message: "is required, unless html or file is set" }]);
  const checked = pageJobFrom(jobInputOf(input), deps);
  await requireExtractor(deps, input);
  const job = await withPageSession(deps, checked);
  await requireSiteNotHeld(deps, siteOf(job.url));
  const recipe = job.recipe as Recipe;
  const site = await deps.store.site(siteOf(job.url));
  const fetched = await getPage(await deps.pages(), {
    recipe: recipeAt(recipe, site),
    plan: planStrategy(recipe, null, site, job.url, deps.clock.now()),
    url: job.url,
    credentialsFor: async (target) =>
      recipe.session_id === null && recipe.sealed === null
        ? null
        : credentialsFor(deps, recipe, target, { elsewhere: "without" }),
    browserOptions: () => openActions(deps.seal, recipe.browser, job.url),
    signal,
  });
  const got = await noticeExpiry(deps, fetched, recipe.session_id, job.url);
  return { url: shownUrl(job.url), ...viewOf(got, input), duration_ms: elapsed() };
}

function viewOf(got: PageGot, input: PreviewInput): Omit<PreviewView, "duration_ms" | "url"> {
  return {
    final_url: got.answer === null ? null : shownUrl(got.answer.finalUrl),
    http_status: got.answer?.status ?? got.failure?.httpStatus ?? null,
    strategy: got.plan.way,
    strategy_evidence: { ...got.plan.evidence },
    title: got.judgement?.title ?? null,
    records: got.judgement?.read ?? [],
    failure_code: got.failure?.code ?? null,
    failure_reason: got.failure?.reason ?? null,
    error_message: got.failure?.message ?? null,
    errors: [...(got.judgement?.errors ?? [])],
    warnings: [...(got.judgement?.warnings ?? [])],
    extract: got.extract ?? null,
    html: input.include_html === true && got.answer !== null ? textOf(got.answer) : null,
    content_type: got.answer === null ? null : receivedOf(got.answer).contentType,
    document_type: got.answer?.document?.type ?? null,
  };
}

/** A document that was sent with the call. */
async function previewFile(
  deps: PreviewDeps,
  input: PreviewInput,
  signal: AbortSignal,
): Promise<Omit<PreviewView, "duration_ms">> {
  const { file = "", file_name: name = "", content_type: contentType = null } = input;
  if (input.html !== undefined) throw invalid([{ path: "file", message: "cannot be combined with html" }]);
  const base64 = file.replace(/\s+/g, "");
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) throw invalid([{ path: "file", message: "expected Base64" }]);
  const { url: _url, target_url: _target, ...rules } = { url: null, ...jobInputOf(input) };
  const { got } = await readFile(deps, { bytes: Buffer.from(base64, "base64"), name, contentType }, rules, signal);
  const nowhere = {
    url: input.url ?? null,
    final_url: null,
    http_status: null,
    strategy: null,
    strategy_evidence: null,
  };
  return { ...viewOf(got, input), ...nowhere };
}

function textOf({ body, contentType }: PageAnswer): string {
  return typeof body === "string" ? body : decodeBody(body, contentType).text;
}

function jobInputOf(input: PreviewInput): JobInput {
  const { url, ...rest } = without(input, "html", "file", "file_name", "content_type", "include_html");
  return { ...rest, ...(url === undefined ? {} : { target_url: url }) };
}

async function previewHtml(
  deps: PreviewDeps,
  input: PreviewInput,
  signal: AbortSignal,
): Promise<Omit<PreviewView, "duration_ms">> {
  const url = input.url ?? "https://page.invalid/";
  // Validates the rules and the URL as for a job.
  const { recipe } = pageJobFrom({ ...jobInputOf(input), target_url: url }, { ...deps, policy: NOTHING_IS_FETCHED });
  await requireExtractor(deps, input);
  const spec = planSpecOf(recipe as Recipe);
  const page = { body: input.html ?? "", contentType: input.content_type ?? HTML, url };
  const pages = await deps.pages();
  // Posting a page of megabytes to the reader thread takes milliseconds.
  await yieldToEventLoop();
  const { extraction } = await pages.reader.read(page, spec, { signal });
  const isFurther = isReadFurther(recipe as Recipe) && extraction.errors.length === 0;
  if (isFurther)
    return {
      ...nothingFetched(input, extraction),
      ...(await readFurther(pages, recipe as Recipe, page, extraction, signal)),
    };
  return nothingFetched(input, extraction);
}

async function readFurther(
  pages: PageDeps,
  recipe: Recipe,
  source: PageInput & { url: string },
  extraction: Extraction,
  signal: AbortSignal,
) {
  const page = { ...source, status: null, headers: {} };
  const read = await extractFurther(pages, { recipe, url: source.url, page, signal }, extraction);
  return {
    records: read.records,
    errors: [...read.errors],
    failure_code: read.failure?.code ?? null,
    failure_reason: read.failure?.reason ?? null,
    error_message: read.failure?.message ?? null,
    extract: read.stats,
  };
}

function nothingFetched(input: PreviewInput, extraction: Extraction): Omit<PreviewView, "duration_ms"> {
  const [first] = extraction.errors;
  return {
    url: input.url ?? null,
    final_url: null,
    http_status: null,
    strategy: null,
    strategy_evidence: null,
    title: extraction.title,
    records: extraction.records,
    failure_code: first === undefined ? null : "extraction",
    failure_reason: null,
    error_message: first === undefined ? null : `${first.field}: ${first.message}`,
    errors: extraction.errors,
    warnings: extraction.warnings,
    extract: null,
    html: null,
    content_type: null,
    document_type: null,
  };
}
