/** Tests the rules of a job on the pages it has saved, without any request to a site. */
import { OrbError, messageOf } from "../../base/errors.ts";
import type { FieldError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import type { Readable } from "node:stream";
import { type CrawlRecipe, pageRecipeOf, wholeCrawlOptions } from "../../domain/crawl/crawl-options.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { KeptPage } from "../../domain/page/fixture.ts";
import { diffRecords, type FieldDiff, type FieldResult } from "../../domain/page/record-diff.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import { shownUrl } from "../../domain/text/url.ts";
import { fixtureSpec, SEALED_FOR_FIXTURE, storedAnswer, whyNoFixtures } from "../../pages/fixture.ts";
import type { ReadAnswer } from "../../pages/judge.ts";
import type { FixtureRecord } from "../../store/ports/fixture-port.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import { invalid } from "../invalid.ts";
import type { PreviewDeps } from "../preview.ts";
import type { JobDeps } from "./deps.ts";
import { readPlan } from "./input.ts";
import { requireJob } from "./manage.ts";

export interface FixtureDeps extends PreviewDeps {
  openArtifact(hash: string): Promise<Readable>;
}

/** A saved page, without its content. */
interface FixtureView {
  number: number;
  url: string;
  fetched_at: string;
  content_type: string | null;
  /** Of the stored file. */
  bytes: number;
  records: number;
  run_id: string;
  encrypted: boolean;
}

function toView(fixture: FixtureRecord): FixtureView {
  return {
    number: fixture.number,
    url: shownUrl(fixture.url),
    fetched_at: isoOf(fixture.fetchedAt),
    content_type: fixture.contentType,
    bytes: fixture.size,
    records: fixture.recordCount,
    run_id: fixture.runId,
    encrypted: fixture.isSealed,
  };
}

export async function fixturesOf(
  { store }: Pick<JobDeps, "store">,
  job: Pick<JobRecord, "id">,
): Promise<FixtureRecord[]> {
  return (await store.fixtures(job.id))?.list ?? [];
}

export async function listFixtures(deps: JobDeps, jobId: string): Promise<FixtureView[]> {
  return (await fixturesOf(deps, await requireJob(deps, jobId))).map(toView);
}

export async function deleteFixture(deps: JobDeps, jobId: string, number: number): Promise<void> {
  await requireJob(deps, jobId);
  if (await deps.store.deleteFixture(jobId, number)) return;
  throw new OrbError("not_found", `the job has no saved page with the number ${number}`, {
    hint: `List them: orb jobs fixtures ${jobId}`,
  });
}

/** Rules that are not saved yet; absent ones are those of the job. */
export interface RulesInput {
  fields?: JsonValue;
  items?: JsonValue;
  schema?: JsonValue;
}

interface TestedPage extends Pick<FixtureView, "number" | "url" | "fetched_at" | "run_id"> {
  /** How many records the page gave, and gives now. */
  records_before: number;
  records_now: number;
  /** Why the page fails with these rules, or cannot be tested. */
  error: string | null;
  fields: FieldDiff[];
}

interface RulesTest {
  passed: boolean;
  /** Fields of pages by result, and pages with an error. */
  summary: Record<FieldResult, number> & { pages: number; failed: number };
  pages: TestedPage[];
}

export async function testRules(
  deps: FixtureDeps,
  jobId: string,
  input: RulesInput,
  signal: AbortSignal,
): Promise<RulesTest> {
  const job = await requireJob(deps, jobId);
  const recipe = testedRecipe(job, input);
  const fixtures = await fixturesOf(deps, job);
  if (fixtures.length === 0) throw noFixtures(job);
  const pages: TestedPage[] = [];
  // One after the other: each page may have megabytes.
  for (const fixture of fixtures) pages.push(await testPage(deps, job, recipe, fixture, signal));
  const count = (wanted: FieldResult) =>
    pages.reduce((sum, { fields }) => sum + fields.filter(({ result }) => result === wanted).length, 0);
  const failed = pages.filter(({ error }) => error !== null).length;
  const results = { lost: count("lost"), changed: count("changed"), new: count("new"), same: count("same") };
  return {
    passed: results.lost + results.changed + failed === 0,
    summary: { pages: pages.length, ...results, failed },
    pages,
  };
}

function testedRecipe(job: JobRecord, input: RulesInput): Recipe {
  if (job.kind === "workflow")
    throw invalid([{ path: "job_id", message: "is a workflow: only pages and crawls have rules of their own" }]);
  const saved = pageRulesOf(job);
  const problems: FieldError[] = [];
  const { fields = saved.fields, items = saved.items, schema = saved.schema } = input;
  const recipe = { ...saved, fields, items, schema };
  readPlan({ fields, items, schema, strategy: saved.strategy }, problems);
  const whyNot = whyNoFixtures(recipe);
  if (whyNot !== null) problems.push({ path: "fields", message: `the job cannot be tested: ${whyNot}` });
  if (problems.length > 0) throw invalid(problems);
  return recipe;
}

/** How the job reads a page. */
export function pageRulesOf({ kind, recipe }: Pick<JobRecord, "kind" | "recipe">): Recipe {
  return kind === "crawl" ? pageRecipeOf(wholeCrawlOptions((recipe as CrawlRecipe).crawl)) : (recipe as Recipe);
}

function noFixtures({ id, fixtures }: JobRecord): OrbError {
  const hint =
    fixtures === 0
      ? `The job keeps none: set fixtures (orb jobs update ${id} --fixtures 5), then run it once.`
      : `Run it once: orb jobs run ${id} --wait. A page is saved if it gives records without a warning.`;
  return new OrbError("no_fixtures", "the job has no saved pages to test its rules on", { hint });
}

async function testPage(
  deps: FixtureDeps,
  job: JobRecord,
  recipe: Recipe,
  fixture: FixtureRecord,
  signal: AbortSignal,
): Promise<TestedPage> {
  const { number, url, fetched_at, run_id } = toView(fixture);
  const about = { number, url, fetched_at, run_id, records_before: fixture.recordCount };
  try {
    const before = await recordsOf(deps, fixture);
    const { bytes, extraction } = await readAgain(deps, job, recipe, fixture, signal);
    if (bytes === 0) throw new Error("the saved page is empty");
    const [first] = extraction.errors;
    // As stored: JSON knows no undefined.
    const now = JSON.parse(JSON.stringify(extraction.records)) as typeof extraction.records;
    return {
      ...about,
      records_now: now.length,
      error: first === undefined ? null : `${first.field === "" ? first.rule : first.field}: ${first.message}`,
      fields: diffRecords(before, now).map(withShortTexts),
    };
  } catch (error) {
    signal.throwIfAborted();
    return { ...about, records_now: 0, error: messageOf(error), fields: [] };
  }
}

/** Reads a kept page by these rules, as a run would. */
export async function readAgain(
  deps: FixtureDeps,
  job: Pick<JobRecord, "kind">,
  recipe: Recipe,
  kept: KeptPage,
  signal: AbortSignal,
) {
  const { answer, bytes } = await keptAnswer(deps, kept);
  const spec = fixtureSpec(job.kind === "crawl" ? "crawl" : "page", recipe, answer);
  const { reader } = await deps.pages();
  const page = { body: answer.body, contentType: answer.contentType, url: kept.url };
  const { extraction } = await reader.read(page, spec, { signal });
  return { bytes, extraction };
}

/** The content of a kept page. */
export async function keptAnswer(
  deps: Pick<FixtureDeps, "openArtifact" | "seal">,
  { hash, isSealed, form, contentType }: KeptPage,
): Promise<{ answer: ReadAnswer; bytes: number }> {
  const chunks: Buffer[] = [];
  for await (const chunk of await deps.openArtifact(hash)) chunks.push(chunk as Buffer);
  const stored = Buffer.concat(chunks);
  const bytes = isSealed ? opened(deps, stored) : stored;
  return { answer: storedAnswer(bytes, form, contentType), bytes: bytes.byteLength };
}

export async function recordsOf(
  deps: FixtureDeps,
  { number, isSealed }: FixtureRecord,
): Promise<Record<string, JsonValue>[]> {
  const stored = await deps.store.fixtureRecords(number);
  if (stored === null) throw new OrbError("not_found", "the saved page was replaced meanwhile: test again");
  const json = isSealed ? opened(deps, Buffer.from(stored, "base64")).toString("utf8") : stored;
  return JSON.parse(json) as Record<string, JsonValue>[];
}

function opened({ seal }: Pick<JobDeps, "seal">, sealed: Buffer): Buffer {
  return Buffer.from(seal.open(sealed, SEALED_FOR_FIXTURE) as string, "base64");
}

const LONGEST_TEXT = 500;

/** Long texts are shown by their beginning: a field may be a whole article. */
function withShortTexts(diff: FieldDiff): FieldDiff {
  const short = (value: JsonValue): JsonValue => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return text.length <= LONGEST_TEXT ? value : `${text.slice(0, LONGEST_TEXT)}…`;
  };
  const differences = diff.differences.map(({ record, before, now }) => {
    const [was, is] = [short(before), short(now)];
    return { record, before: was, now: is };
  });
  return { ...diff, differences };
}
