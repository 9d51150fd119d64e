import type { FieldError } from "../../base/errors.ts";
import type { CrawlInput, CrawlOptions } from "../../domain/crawl/crawl-options.ts";
import { without } from "../../base/without.ts";
import { CRAWL_DEFAULTS, readsDocuments, type StoredCrawlSettings } from "../../domain/crawl/crawl-settings.ts";
import { compileScope } from "../../domain/crawl/crawl-scope.ts";
import { goalTerms } from "../../domain/crawl/goal-terms.ts";
import { fetchUrl } from "../../domain/text/url.ts";
import { parsePlan } from "../../extract/plan.ts";
import { checkExtract } from "../../extract/extract-request.ts";
import type { JobDeps } from "../jobs/deps.ts";
import { invalid } from "../invalid.ts";
import { SEALED_FOR_JOB } from "../../pages/access.ts";
import { readCredentials, refuseForbidden } from "../jobs/input.ts";
import { readPageOptions } from "../jobs/page-options-input.ts";
import { readProxy } from "../jobs/proxy-input.ts";

type Checks = Pick<JobDeps, "policy" | "respectRobots" | "seal" | "extractors">;

/** Validated crawl options, with defaults filled in. */
export function crawlOptionsFrom(deps: Checks, input: CrawlInput): CrawlOptions {
  const problems: FieldError[] = [];
  const options = readCrawlOptions(deps, input, problems);
  if (problems.length > 0) throw invalid(problems);
  return options;
}

/** For callers with more fields; `pathOf` maps a key to its path in the request, `before` are the current options. */
export function readCrawlOptions(
  deps: Checks,
  input: CrawlInput,
  problems: FieldError[],
  pathOf: (path: string) => string = (path) => path,
  before: CrawlOptions | null = null,
): CrawlOptions {
  const { url, name } = startsOf(input, problems, pathOf);
  const inputPath = (path: string) => pathOf(path.replace(/^url(?=\[|$)/, name));
  const wrong = (errors: readonly FieldError[] = []) =>
    problems.push(...errors.map(({ path, message }) => ({ path: inputPath(path), message })));
  const options: CrawlOptions = {
    urls: typeof url === "string" ? [url] : [...(url ?? [])],
    ...CRAWL_DEFAULTS,
    documents: readsDocuments(input),
    respect_robots: deps.respectRobots,
    ...settingsIn(input),
    retry_attempts: retriesOf(input, problems, pathOf),
    export_format: input.export_format ?? "json",
    strategy: input.strategy ?? "auto",
    fields: input.fields ?? null,
    items: input.items ?? null,
    schema: input.schema ?? null,
    extract: input.extract ?? null,
    session_id: input.session_id ?? null,
    ...readProxy(input.proxy, deps, before, pathOf("proxy"), problems),
    ...readPageOptions(
      without(input, "strategy"),
      problems,
      { seal: deps.seal, origins: [...originsOf(typeof url === "string" ? [url] : (url ?? []))], before },
      pathOf,
    ),
    ...readHeaders(deps, url ?? [], input.headers, problems, pathOf("headers"), before),
  };
  problems.push(...goalProblems(options).map(({ path, message }) => ({ path: pathOf(path), message })));
  const scope = compileScope({ ...options, url });
  wrong(scope.errors);
  const { fields, items, schema } = options;
  const { document = null } = input;
  if (fields !== null || items !== null || schema !== null || document !== null)
    wrong(parsePlan({ fields, items, schema, document }).errors);
  wrong(checkExtract(options.extract, input, deps.extractors));
  const starts = options.urls.map((start, n) => ({ start, path: typeof url === "string" ? "url" : `url[${n}]` }));
  wrong(starts.filter(({ start }) => hasPassword(start)).map(({ path }) => ({ path, message: NO_PASSWORDS })));
  if (scope.errors !== undefined) return options;
  for (const { start, path } of starts) refuseForbidden(inputPath(path), start, deps.policy);
  return options;
}

function goalProblems({ goal, stop_when_saturated: stops }: CrawlOptions): FieldError[] {
  if (goal !== "" && goalTerms(goal).length === 0)
    return [{ path: "goal", message: "contains no word: say in words what the pages should be about" }];
  if (stops && goal === "")
    return [
      { path: "stop_when_saturated", message: "needs a goal: without one, no page is more relevant than another" },
    ];
  return [];
}

/** The settings that the request contains. */
function settingsIn(input: CrawlInput): Partial<StoredCrawlSettings> {
  const isSet = (value: unknown) => value !== undefined && value !== null;
  const set = Object.entries(input).filter(([name, value]) => Object.hasOwn(CRAWL_DEFAULTS, name) && isSet(value));
  return Object.fromEntries(set);
}

/** Both names may be set if they agree. */
function retriesOf(
  { retry_attempts: retries, max_attempts: tries }: CrawlInput,
  problems: FieldError[],
  pathOf: (path: string) => string,
): number {
  if (tries === undefined) return retries ?? CRAWL_DEFAULTS.retry_attempts;
  if (retries !== undefined && retries !== tries - 1)
    problems.push({
      path: pathOf("max_attempts"),
      message: `is ${tries}, but retry_attempts is ${retries}: set only one of them (retry_attempts does not count the first attempt)`,
    });
  return tries - 1;
}

/** The start URLs, and the key that set them. */
function startsOf(
  { url, urls }: CrawlInput,
  problems: FieldError[],
  pathOf: (path: string) => string,
): { url: string | readonly string[] | undefined; name: "url" | "urls" } {
  if (url !== undefined && urls !== undefined)
    problems.push({ path: pathOf("urls"), message: "cannot be combined with url; set only one of them" });
  return url === undefined && urls !== undefined ? { url: urls, name: "urls" } : { url, name: "url" };
}

/** Sealed and bound to the crawl's origin; headers that the request omits stay while the origin stays. */
function readHeaders(
  { seal }: Pick<Checks, "seal">,
  url: string | readonly string[],
  headers: CrawlInput["headers"],
  problems: FieldError[],
  path: string,
  before: CrawlOptions | null,
): Required<Pick<CrawlOptions, "header_names" | "sealed">> {
  const none = { header_names: [], sealed: null };
  const origins = originsOf(typeof url === "string" ? [url] : url);
  const [origin = ""] = origins;
  if (headers === undefined) {
    const { sealed = null, header_names = [] } = before ?? none;
    return before !== null && origins.size === 1 && originsOf(before.urls).has(origin)
      ? { sealed, header_names }
      : none;
  }
  const wrong: FieldError[] = [];
  const credentials = readCredentials({ headers }, origin, null, wrong);
  problems.push(...wrong.map(({ path: at, message }) => ({ path: `${path}${at.slice("headers".length)}`, message })));
  if (credentials === null) return none;
  if (origins.size > 1) {
    problems.push({
      path,
      message: "are sent to one origin only, but the start URLs have several; start one crawl per origin",
    });
    return none;
  }
  const sealed = Buffer.from(seal.close(credentials, SEALED_FOR_JOB)).toString("base64");
  return { header_names: Object.keys(credentials.headers), sealed };
}

function originsOf(urls: readonly string[]): Set<string> {
  return new Set(urls.flatMap((url) => URL.parse(fetchUrl(url) ?? "")?.origin ?? []));
}

const NO_PASSWORDS =
  "contains a user name or password, which would be stored and shown in plain text: remove it, and use a session (session_id) instead";

function hasPassword(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && (url.username !== "" || url.password !== "");
}
