import { classifyStatus } from "../domain/run/classify.ts";
import { type Failure, failure } from "../domain/run/failure.ts";
import type { JsonValue } from "../domain/lane/queue-item.ts";
import { outlineOf } from "../domain/page/page-outline.ts";
import { documentOf } from "../domain/page/page-options.ts";
import { DEFAULT_FIELDS, FIELDS_BESIDE_DOCUMENT, type Recipe } from "../domain/run/recipe.ts";
import { parseRetryAfter } from "../domain/lane/retry-after.ts";
import { DOCUMENT_RULE, documentWarning } from "../domain/page/document-warning.ts";
import { hasPasswordField, SIGN_IN_RULE, signInReached } from "../domain/page/sign-in.ts";
import { type SoftBlock, softBlockOf } from "../domain/page/soft-block.ts";
import type { Extraction } from "../extract/page.ts";
import type { PageClue } from "../domain/crawl/goal-score.ts";
import type { LeftLink } from "../domain/crawl/crawl-skips.ts";
import type { FollowLink, FollowOrder } from "../extract/follow.ts";
import type { ExtractionProblem } from "../extract/rules/evaluate.ts";
import { planForReplay, type PlanSpec } from "../extract/plan.ts";
import type { PageReader } from "../extract/pool.ts";
import { sourceWanted } from "../extract/extract-request.ts";
import type { PageReading } from "../extract/reading.ts";
import type { PageAnswer } from "../fetch/page.ts";
import { monitorSpec } from "./monitor-spec.ts";
import { extractionFailure } from "./extraction-failure.ts";

/** The classification of a response. */
export interface Judgement {
  failure: Failure | null;
  /** The rule that recognised a challenge or an empty shell. */
  sign: string | null;
  /** Why the page needs a person or a browser; null: it needs neither. */
  wall: "challenge" | "captcha" | "shell" | null;
  /** Records to store: none when the page failed. */
  records: Record<string, JsonValue>[];
  /** Records that the rules found, valid or not. */
  read: Record<string, JsonValue>[];
  errors: readonly ExtractionProblem[];
  /** Null: the body was not read. */
  extraction: Extraction | null;
  /** Links for the crawl to follow. */
  follow: readonly FollowLink[];
  /** Skipped links that were not reported before. */
  left: readonly LeftLink[];
  /** Where the words of the crawl's goal are; absent for a crawl without one, and for a page that was not read. */
  goal?: PageClue;
  title: string | null;
  warnings: readonly ExtractionProblem[];
  /** A redirect has led to a sign-in: the message, which is among the warnings as well. */
  signIn: string | null;
}

/** What the plan depends on. */
export type ReadAnswer = Pick<PageAnswer, "body" | "contentType" | "replayed">;

/** The extraction plan for this answer. */
export function planSpecOf(recipe: Recipe, answer?: ReadAnswer): PlanSpec {
  const document = documentOf(recipe);
  const about = { links: false, ...(document === null ? {} : { document }), ...monitorSpec(recipe.monitor, recipe) };
  const sourceSpec = sourceWanted(recipe);
  // Without the schema: it applies to the final records of the extractor.
  if (sourceSpec !== null) return { fields: recipe.fields, ...about, ...sourceSpec };
  const defaults = document === null ? DEFAULT_FIELDS : FIELDS_BESIDE_DOCUMENT;
  const spec: PlanSpec = { fields: recipe.fields ?? [...defaults], ...about };
  if (recipe.items !== null) spec.items = recipe.items;
  if (recipe.schema !== null) spec.schema = recipe.schema;
  if (recipe.strategy === "api_replay" && isJson(answer?.contentType ?? null)) return replaySpec(spec, recipe, answer!);
  // A document includes the JSON unchanged.
  if (document !== null) return spec;
  // Without rules, a JSON answer is its own record, and a list is a list of records.
  if (recipe.fields === null && recipe.items === null && answer !== undefined && isJson(answer.contentType))
    return { ...spec, fields: null, items: { jsonpath: startsList(answer.body) ? "$[*]" : "$" } };
  return spec;
}

/** A replayed answer is already the list of items; one fetched otherwise is the API's own response. */
function replaySpec(spec: PlanSpec, recipe: Recipe, { body, replayed }: ReadAnswer): PlanSpec {
  const plain = { ...spec, fields: recipe.fields, links: false };
  if (replayed === true || recipe.items !== null) return planForReplay(plain);
  const { items } = (recipe.replay ?? {}) as { items?: string | null };
  return { ...plain, items: { jsonpath: items ?? (startsList(body) ? "$[*]" : "$") } };
}

function isJson(contentType: string | null): boolean {
  return /^[^;]*[/+]json\s*(?:;|$)/i.test(contentType ?? "");
}

function startsList(body: Uint8Array | string): boolean {
  const start = typeof body === "string" ? body.slice(0, 200) : Buffer.from(body.subarray(0, 200)).toString("utf8");
  return /^[\s\uFEFF]*\[/.test(start);
}

const MAX_WARNINGS = 20;

const NOTHING: Judgement = {
  failure: null,
  sign: null,
  wall: null,
  records: [],
  read: [],
  errors: [],
  extraction: null,
  follow: [],
  left: [],
  title: null,
  warnings: [],
  signIn: null,
};

/** The judgement of a page that cannot be read at all. */
export function failedJudgement(what: Failure): Judgement {
  return { ...NOTHING, failure: what };
}

const READABLE = /^(?:text\/|application\/(?:xhtml\+xml|xml|json|[\w.-]+\+(?:json|xml)|rss|atom|ld\+json|javascript))/i;

/** Reads and classifies the answer. `shells`: a page that is empty without scripts counts as a block. */
export async function judgeAnswer(
  reader: PageReader,
  answer: PageAnswer,
  recipe: Recipe,
  options: {
    shells: boolean;
    wantsJson: boolean;
    /** The URL before any redirect; default: the first one of the answer's redirects. */
    askedUrl?: string;
    now: number;
    signal: AbortSignal;
    spec?: PlanSpec;
    follow?: FollowOrder;
  },
): Promise<Judgement> {
  if (answer.notFollowed !== undefined)
    return {
      ...NOTHING,
      failure: failure("robots_disallowed", "the page redirects to one that the site's robots.txt disallows"),
    };
  const refused = classifyStatus(answer.status, parseRetryAfter(answer.headers["retry-after"] ?? "", options.now));
  const none: Judgement = { ...NOTHING, failure: refused };
  const type = answer.contentType?.split(";")[0]?.trim() ?? "";
  if (type !== "" && !READABLE.test(type)) {
    if (refused !== null) return none;
    const message = `the server sent ${type.slice(0, 100)}, which is not a readable page`;
    return { ...none, failure: failure("not_html", message, { httpStatus: answer.status }) };
  }
  if (refused !== null) return errorPage(answer, none);
  const { status, headers, finalUrl: url } = answer;
  const input = { body: answer.body, contentType: answer.contentType, url };
  const reading = await reader.read(input, options.spec ?? planSpecOf(recipe, answer), {
    signal: options.signal,
    // Documents are neither challenges nor empty without scripts.
    ...(answer.document === undefined ? { judge: { status, headers, url, shells: options.shells } } : {}),
    ...(options.follow === undefined ? {} : { follow: options.follow }),
  });
  const judgement = withDocumentWarning(judgeReading(reading, none, answer, options), answer);
  return judgement.failure === null ? withSignIn(judgement, answer, recipe, options) : judgement;
}

/** The records of a document that was read in part may lack what comes later in it. */
function withDocumentWarning(judgement: Judgement, { document }: PageAnswer): Judgement {
  const message = document === undefined ? null : documentWarning(document);
  return message === null ? judgement : withWarning(judgement, DOCUMENT_RULE, message);
}

function withWarning(judgement: Judgement, rule: string, message: string): Judgement {
  const warning = { record: 0, field: "", rule, message, found: null };
  return { ...judgement, warnings: [warning, ...judgement.warnings].slice(0, MAX_WARNINGS) };
}

/** After a session expires, many sites redirect to a sign-in page with status 200. */
function withSignIn(
  judgement: Judgement,
  { body, status, contentType, finalUrl, redirects, document }: PageAnswer,
  recipe: Recipe,
  options: { askedUrl?: string },
): Judgement {
  const askedUrl = options.askedUrl ?? redirects[0]?.from ?? finalUrl;
  // A replayed API call has its own URL, and a document asks for no password.
  if (askedUrl === finalUrl || isJson(contentType) || document !== undefined) return judgement;
  const html = typeof body === "string" ? body : Buffer.from(body).toString("latin1");
  const signIn = signInReached({ askedUrl, finalUrl, html });
  const isSentAway = redirects.length > 0 || URL.parse(askedUrl)?.host !== URL.parse(finalUrl)?.host;
  const asksForPassword = isSentAway && hasPasswordField(html);
  if (recipe.requires_auth && (signIn !== null || asksForPassword)) {
    const message = "the site redirected to a page that asks for a password";
    const what = failure("login_page", asksForPassword ? message : (signIn ?? message), { httpStatus: status });
    return { ...judgement, signIn, records: [], failure: what };
  }
  if (signIn === null) return judgement;
  // It may be the requested page, so the records only get a warning.
  return { ...withWarning(judgement, SIGN_IN_RULE, signIn), signIn };
}

/** A challenge is recognisable from its beginning. */
const CHALLENGE_BYTES = 256 * 1024;

/** Judges a response with an error status without a reader thread, so that a refusal takes effect at once. */
function errorPage({ body, status, headers, finalUrl: url }: PageAnswer, none: Judgement): Judgement {
  const text = typeof body === "string" ? body : Buffer.from(body.subarray(0, CHALLENGE_BYTES)).toString("utf8");
  const html = text.slice(0, CHALLENGE_BYTES);
  const outline = outlineOf(html);
  const softBlock = softBlockOf({ status, headers, url, html }, outline);
  const seen = { ...none, title: outline.title.trim() || null };
  return softBlock === null ? seen : walled(seen, softBlock, status);
}

/** A challenge with status 429 or 503 counts as blocked, not as rate limited. */
function walled(seen: Judgement, { kind, message, rule }: SoftBlock, httpStatus: number): Judgement {
  const reason = kind === "captcha" ? "captcha_page" : "challenge_page";
  return { ...seen, failure: failure(reason, message, { httpStatus }), sign: rule, wall: kind };
}

function judgeReading(
  reading: PageReading,
  none: Judgement,
  answer: PageAnswer,
  { wantsJson }: { wantsJson: boolean },
): Judgement {
  const { extraction, softBlock, shell, follow, left, goal } = reading;
  const more = { httpStatus: answer.status };
  const seen = {
    ...none,
    extraction,
    title: extraction.title,
    read: extraction.records,
    errors: extraction.errors,
    warnings: extraction.warnings.slice(0, MAX_WARNINGS),
    ...(goal === undefined ? {} : { goal }),
  };
  if (softBlock !== null) return walled(seen, softBlock, answer.status);
  if (wantsJson && !isJson(answer.contentType)) {
    const message = `the API answered ${answer.contentType ?? "something"} instead of JSON`;
    return { ...seen, failure: failure("malformed_response", message, more) };
  }
  if (shell !== null)
    return { ...seen, failure: failure("empty_shell", shell.message, more), sign: shell.rule, wall: "shell" };
  const [first] = extraction.errors;
  if (first !== undefined)
    return { ...seen, failure: extractionFailure(extraction.errors, answer.status), follow, left };
  return { ...seen, records: extraction.records, follow, left };
}
