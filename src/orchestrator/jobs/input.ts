/** Validates a job as a whole: every error has its path, and nothing is stored while there are errors. */
import { type FieldError, OrbError } from "../../base/errors.ts";
import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Seal } from "../../base/seal.ts";
import { isCookieName, isCookieValue } from "../../domain/page/cookie.ts";
import type { Cookie, Credentials } from "../../domain/text/credentials.ts";
import { noCredentials } from "../../domain/text/credentials.ts";
import { FetchFailure } from "../../domain/run/failure.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { CrawlInput } from "../../domain/crawl/crawl-options.ts";
import type { OnDegraded } from "../../domain/health/on-degraded.ts";
import type { MonitorOptions } from "../../domain/monitor/options.ts";
import type { ProxyOptions } from "../../domain/proxy/proxy-options.ts";
import type { BrowserOptions, DocumentRequest } from "../../domain/page/page-options.ts";
import type { Recipe, Schedule, StrategyName } from "../../domain/run/recipe.ts";
import { decodePercent, fetchUrl, siteOf } from "../../domain/text/url.ts";
import { parsePlan } from "../../extract/plan.ts";
import { checkExtract } from "../../extract/extract-request.ts";
import { parseReplay } from "../../fetch/replay/recipe.ts";
import { isSecret } from "../../fetch/replay/secrets.ts";
import type { AddressPolicy } from "../../net/address.ts";
import { checkUrl } from "../../net/guard.ts";
import { SEALED_FOR_JOB } from "../../pages/access.ts";
import type { NewJob } from "../../store/records/job-records.ts";
import { readMonitor } from "./monitor-input.ts";
import { readPageOptions } from "./page-options-input.ts";
import type { ExtractorOffers, JobDeps } from "./deps.ts";
import { readProxy } from "./proxy-input.ts";
import type { JobNotify } from "../../domain/notify/rules.ts";
import { firstTime, readSchedule } from "./schedule-input.ts";
import { invalid } from "../invalid.ts";

export interface JobInput {
  name?: string | null;
  kind?: "page" | "crawl" | "workflow";
  target_url?: string;
  strategy?: StrategyName;
  requires_auth?: boolean;
  fields?: JsonValue;
  items?: JsonValue;
  schema?: JsonValue;
  /** Extraction beyond rules: `{llm: {schema, prompt}}`, or `{name, params}` for a user's extractor. */
  extract?: JsonValue;
  max_attempts?: number | null;
  schedule?: string | Partial<Schedule> | null;
  timezone?: string | null;
  tags?: readonly string[];
  /** Retention of ended runs, by count and by days; 0: no limit, null: the configured default. */
  keep_runs?: number | null;
  keep_days?: number | null;
  on_degraded?: OnDegraded;
  /** Saved pages for tests of its rules; 0: none, null: the default. */
  fixtures?: number | null;
  /** Repairs of its rules that are beyond doubt are accepted without a person. */
  auto_repair?: boolean;
  /** Channels to notify, by id or name, besides those whose rules match. */
  notify?: readonly JobNotify[];
  headers?: Readonly<Record<string, string>> | null;
  cookies?: Readonly<Record<string, string>> | readonly Cookie[] | null;
  escalate?: boolean;
  respect_robots?: boolean;
  /** Whether a document, such as a PDF, is read. Default: true. */
  documents?: boolean;
  timeout_seconds?: number | null;
  session_id?: string | null;
  replay?: JsonValue;
  browser?: Partial<BrowserOptions> | null;
  document?: Partial<DocumentRequest> | null;
  /** `pool`, or the URL of a proxy, whose credentials are never returned. */
  proxy?: string | null;
  /** What is compared from run to run, and what is left out. */
  monitor?: Partial<MonitorOptions> | null;
  /** Of a crawl; its start URL may be in `target_url`. */
  crawl?: Partial<CrawlInput> | null;
  /** Of a workflow: its definition or a template, and params. */
  workflow?: SourceInput | null;
}

/** The source of a workflow in a request. */
export interface SourceInput {
  definition?: unknown;
  template?: string | null;
  /** Absent: the newest version when the run starts. */
  template_version?: number | null;
  params?: Readonly<Record<string, JsonValue>> | null;
}

/** What happens to its ended runs, and what it keeps, as stored. */
export function policiesOf({
  keep_runs,
  keep_days,
  on_degraded,
  fixtures,
  auto_repair,
}: JobInput): Pick<NewJob, "keepRuns" | "keepDays" | "onDegraded" | "fixtures" | "autoRepair"> {
  return {
    keepRuns: keep_runs ?? null,
    keepDays: keep_days ?? null,
    onDegraded: on_degraded ?? null,
    fixtures: fixtures ?? null,
    autoRepair: auto_repair ?? false,
  };
}

const DEFAULTS = {
  strategy: "auto",
  requires_auth: false,
  escalate: true,
  respect_robots: false,
  documents: true,
} as const;

export interface Checks extends Partial<Pick<JobDeps, "minScheduleMs">> {
  seal: Seal;
  policy: AddressPolicy;
  clock: Clock;
  random: Random;
  extractors: ExtractorOffers;
}

/** Stored values that the client cannot send again because they are write-only. */
type Before = ProxyOptions & Pick<Recipe, "browser">;

/**
 * A page job, ready to store. Throws `input_invalid` (or `forbidden_target`) with every invalid field. `before` is the
 * current job.
 */
export function pageJobFrom(input: JobInput, deps: Checks, before: Before | null = null): NewJob {
  const problems: FieldError[] = [];
  if (input.crawl !== undefined && input.crawl !== null)
    problems.push({ path: "crawl", message: 'is only for crawls: set "kind": "crawl", or remove it' });
  if (input.workflow !== undefined && input.workflow !== null)
    problems.push({ path: "workflow", message: 'is only for workflows: set "kind": "workflow", or remove it' });
  const replay = readReplay(input, problems);
  const target = readTarget(input, replay?.url ?? null, problems);
  if (target !== null) refuseForbidden("target_url", target.href, deps.policy);
  if (replay !== null) refuseForbidden("replay.request.url", replay.url, deps.policy);
  const strategy = input.strategy ?? DEFAULTS.strategy;
  if (strategy === "api_replay" && (input.replay === undefined || input.replay === null))
    problems.push({
      path: "replay",
      message: "is required with strategy api_replay: the call to replay",
    });
  readPlan(input, problems);
  const pageOptions = readPageOptions(input, problems, {
    seal: deps.seal,
    origins: target === null ? [] : [target.origin],
    before,
  });
  const monitor = readMonitor(input.monitor, pageOptions.document, problems, "document");
  problems.push(...checkExtract(input.extract, input, deps.extractors));
  const schedule = readSchedule(input, problems, deps);
  const origin = replay !== null && strategy === "api_replay" ? new URL(replay.url).origin : (target?.origin ?? "");
  const credentials = readCredentials(input, origin, target, problems);
  const proxy = readProxy(input.proxy, deps, before, "proxy", problems);
  if (problems.length > 0 || target === null) throw invalid(problems);
  const plain = withoutPassword(target);
  const recipe: Recipe = {
    strategy,
    requires_auth: input.requires_auth ?? DEFAULTS.requires_auth,
    fields: input.fields ?? null,
    items: input.items ?? null,
    schema: input.schema ?? null,
    extract: input.extract ?? null,
    max_attempts: input.max_attempts ?? null,
    escalate: input.escalate ?? DEFAULTS.escalate,
    respect_robots: input.respect_robots ?? DEFAULTS.respect_robots,
    documents: input.documents ?? DEFAULTS.documents,
    timeout_seconds: input.timeout_seconds ?? null,
    session_id: input.session_id ?? null,
    replay: input.replay ?? null,
    ...pageOptions,
    ...(monitor === null ? {} : { monitor }),
    schedule,
    timezone: input.timezone ?? null,
    header_names: Object.keys(credentials?.headers ?? {}),
    cookie_names: credentials?.cookies.map(({ name }) => name) ?? [],
    sealed: credentials === null ? null : Buffer.from(deps.seal.close(credentials, SEALED_FOR_JOB)).toString("base64"),
    ...proxy,
  };
  return {
    name: input.name ?? null,
    kind: "page",
    url: plain,
    site: siteOf(strategy === "api_replay" && replay !== null ? replay.url : plain),
    tags: input.tags ?? [],
    recipe,
    ...firstTime(schedule, deps),
    ...policiesOf(input),
  };
}

function readReplay(input: JobInput, problems: FieldError[]): { url: string } | null {
  if (input.replay === undefined || input.replay === null) return null;
  const { ok, errors } = parseReplay(input.replay, "replay");
  if (ok === undefined) {
    problems.push(...errors);
    return null;
  }
  refuseSecrets(input.replay as { request: { url: string; headers?: Record<string, string> } }, problems);
  return { url: ok.request.url };
}

/** The call is stored and shown in clear text; credentials belong in sealed fields. */
function refuseSecrets(
  { request }: { request: { url: string; headers?: Record<string, string> } },
  problems: FieldError[],
): void {
  const remedy =
    "would be stored and shown in plain text: use headers or cookies of the job, or a session (session_id)";
  for (const [name, value] of Object.entries(request.headers ?? {}))
    if (isSecret(name, value))
      problems.push({ path: `replay.request.headers.${name}`, message: `looks like a secret and ${remedy}` });
  const { username, password } = new URL(request.url);
  if (username !== "" || password !== "")
    problems.push({ path: "replay.request.url", message: `contains a user name or password, which ${remedy}` });
}

const LONGEST_URL = 8192;

function readTarget(input: JobInput, replayUrl: string | null, problems: FieldError[]): URL | null {
  const text = input.target_url ?? replayUrl ?? undefined;
  const wrong = (message: string) => {
    problems.push({ path: "target_url", message });
    return null;
  };
  if (text === undefined) return wrong("is required: the URL of the page");
  if (text.length > LONGEST_URL) return wrong(`is longer than ${LONGEST_URL} characters`);
  const url = fetchUrl(text);
  if (url === null) return wrong("expected an absolute http or https URL, such as https://example.com/");
  if (!/^https?:/.test(url)) return wrong(`expected an http or https URL, got ${url.slice(0, url.indexOf(":") + 1)}`);
  return new URL(url);
}

function withoutPassword(url: URL): string {
  const plain = new URL(url);
  plain.username = "";
  plain.password = "";
  return plain.href;
}

/** A forbidden literal address is rejected at once; one behind a host name fails the run. */
export function refuseForbidden(path: string, url: string, policy: AddressPolicy): void {
  try {
    checkUrl(url, policy);
  } catch (error) {
    if (!(error instanceof FetchFailure)) throw error;
    const { message } = error.failure;
    throw new OrbError("forbidden_target", `${path}: ${message}`, { fields: [{ path, message }], cause: error });
  }
}

export function readPlan(input: JobInput, problems: FieldError[]): void {
  const { fields, items, schema, document } = input;
  if (fields === undefined && items === undefined && schema === undefined && document === undefined) return;
  const spec = { fields, items, schema, document };
  // A replayed response is always a list of items.
  const isReplay = input.strategy === "api_replay" && (items === undefined || items === null);
  const { errors } = parsePlan(isReplay ? { ...spec, items: { jsonpath: "$[*]" } } : spec);
  if (errors !== undefined) problems.push(...errors);
}

const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
// oxlint-disable-next-line no-control-regex
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/;
/** Set by our client: a caller's value would break or forge the request. */
const RESERVED = new Set(["host", "content-length", "connection", "transfer-encoding", "te", "trailer", "upgrade"]);

/** Headers, cookies and a password in the URL: sealed, and bound to their origin. */
export function readCredentials(
  input: Pick<JobInput, "headers" | "cookies">,
  origin: string,
  url: URL | null,
  problems: FieldError[],
): Credentials | null {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(input.headers ?? {})) {
    const path = `headers.${name}`;
    if (!HEADER_NAME.test(name)) problems.push({ path, message: "is not a header name" });
    else if (RESERVED.has(name.toLowerCase()) || name.toLowerCase().startsWith("proxy-"))
      problems.push({ path, message: "is set automatically: remove it" });
    else if (!HEADER_VALUE.test(value))
      problems.push({ path, message: "contains characters that are not allowed in a header" });
    else headers[name.toLowerCase()] = value;
  }
  const requestedCookies = input.cookies ?? [];
  const cookies: Cookie[] = Array.isArray(requestedCookies)
    ? [...(requestedCookies as readonly Cookie[])]
    : Object.entries(requestedCookies as Record<string, string>).map(([name, value]) => ({ name, value }));
  for (const { name, value } of cookies) {
    if (!isCookieName(name)) problems.push({ path: `cookies.${name}`, message: "is not a cookie name" });
    else if (!isCookieValue(value))
      problems.push({ path: `cookies.${name}`, message: "contains characters that are not allowed in a cookie" });
  }
  const basic =
    url === null || (url.username === "" && url.password === "")
      ? null
      : { username: decodePercent(url.username), password: decodePercent(url.password) };
  if (Object.keys(headers).length === 0 && cookies.length === 0 && basic === null) return null;
  return { ...noCredentials(origin), headers, cookies, basic };
}
