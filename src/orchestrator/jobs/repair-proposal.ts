/**
 * Computes a proposal that repairs the rules of a job: what its saved pages gave is looked for on the same pages of the
 * degraded run. Abstains unless the result is clearly right.
 */
import { isDeepStrictEqual } from "node:util";
import { OrbError } from "../../base/errors.ts";
import type { CrawlRecipe, CrawlSnapshot } from "../../domain/crawl/crawl-options.ts";
import type { DegradedReason } from "../../domain/health/compare.ts";
import type { HealthProfile } from "../../domain/health/profile.ts";
import type { FieldRepair, RepairedValue, RepairProposal } from "../../domain/health/repair.ts";
import { classOfText } from "../../domain/health/value-class.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import { isEmpty } from "../../domain/page/record-diff.ts";
import type { PageSnapshot, Recipe } from "../../domain/run/recipe.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { Repair, RepairedRules } from "../../extract/learn/repair.ts";
import type { PageInput } from "../../extract/page.ts";
import { rulesFingerprint, whyNoFixtures } from "../../pages/fixture.ts";
import type { FixtureRecord } from "../../store/ports/fixture-port.ts";
import type { HealthRecord } from "../../store/ports/health-port.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { RunPageRecord } from "../../store/ports/repair-port.ts";
import type { JobRecord } from "../../store/records/job-records.ts";
import { type FixtureDeps, fixturesOf, keptAnswer, pageRulesOf, readAgain, recordsOf } from "./fixtures.ts";

type Rules = Pick<Recipe, "fields" | "items">;

/** What a job is repaired by. */
export interface Degraded {
  job: JobRecord;
  run: RunRecord;
  reasons: readonly DegradedReason[];
  /** Newest first. */
  health: readonly HealthRecord[];
}

export interface Computed {
  proposal: RepairProposal;
  /** The rules of the job with the new ones; null: there is none. */
  rules: Rules | null;
}

const MAX_PAIRS = 6;
const MAX_OTHERS = 12;
const MAX_SHOWN = 5;
const MAX_HEALTH = 100;

/** The newest run of the job, if it is degraded by the rules that the job still has. */
export async function requireDegraded({ store }: Pick<FixtureDeps, "store">, job: JobRecord): Promise<Degraded> {
  const none = (message: string) => new OrbError("nothing_to_repair", message);
  if (job.kind === "workflow") throw none("the job is a workflow: only pages and crawls have rules of their own");
  const health = await store.runHealth(job.id, { limit: MAX_HEALTH });
  const [newest] = health;
  if (newest === undefined) throw none("no run of the job has been compared yet");
  if (newest.reasons === null) throw none(`the newest compared run ${newest.runId} is not degraded`);
  if (newest.acceptedAt !== null) throw none(`run ${newest.runId} was accepted as the new baseline`);
  const run = await store.run(newest.runId);
  if (run === null) throw none(`the degraded run ${newest.runId} was deleted`);
  if (!isDeepStrictEqual(plain(rulesOfRun(run)), plain(rulesOfJob(job))))
    throw none(`the rules were changed since the degraded run ${run.id}: run the job again`);
  return { job, run, reasons: newest.reasons, health };
}

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const rulesOfJob = (job: JobRecord): Rules => rulesIn(pageRulesOf(job));
const rulesIn = ({ fields, items }: Rules): Rules => ({ fields, items: items ?? null });

function rulesOfRun({ kind, snapshot }: RunRecord): Rules {
  return rulesIn(kind === "crawl" ? (snapshot as CrawlSnapshot).options : (snapshot as PageSnapshot).recipe);
}

/** The recipe of a job with other rules. */
export function recipeWith({ kind, recipe }: Pick<JobRecord, "kind" | "recipe">, rules: Rules): unknown {
  const changed = { ...(recipe as Recipe), ...rules };
  return kind === "crawl" ? { ...changed, crawl: { ...(recipe as CrawlRecipe).crawl, ...rules } } : changed;
}

/** The snapshot of a run with other rules. */
export function snapshotWith({ kind, snapshot }: RunRecord, rules: Rules): unknown {
  if (kind === "crawl")
    return { ...(snapshot as CrawlSnapshot), options: { ...(snapshot as CrawlSnapshot).options, ...rules } };
  return { ...(snapshot as PageSnapshot), recipe: { ...(snapshot as PageSnapshot).recipe, ...rules } };
}

/** All kept pages of a run. */
export async function* keptPages({ store }: Pick<FixtureDeps, "store">, runId: string): AsyncGenerator<RunPageRecord> {
  for (let after: number | undefined = 0; after !== undefined;) {
    const list: RunPageRecord[] = await store.runPages(runId, { after, limit: 200 });
    yield* list;
    after = list.at(-1)?.number;
  }
}

export async function computeProposal(deps: FixtureDeps, degraded: Degraded, signal: AbortSignal): Promise<Computed> {
  const { job, run, reasons, health } = degraded;
  const recipe = pageRulesOf(job);
  const whyNot =
    whyNoFixtures(recipe) ?? (recipe.strategy === "api_replay" ? "its records come from an API call" : null);
  const nothing = (reason: string, pages = { paired: 0, others: 0 }): Computed => ({
    proposal: { fields: brokenOf(reasons, recipe).map((field) => leftAlone(field, recipe, reason)), pages, reason },
    rules: null,
  });
  if (whyNot !== null) return nothing(`the rules cannot be repaired: ${whyNot}`);
  const reported = brokenOf(reasons, recipe);
  if (reported.length === 0)
    return nothing("the run has fewer pages than before, but the rules of its fields still work");
  const saved = await goodFixtures(deps, job, recipe, health);
  if (saved.length === 0)
    return nothing(
      job.fixtures === 0
        ? "the job keeps no saved pages: set fixtures, and run it while its rules are right"
        : "the job has no saved pages of a good run: run it once after its rules are right",
    );
  const pages = await chosenPages(deps, run, saved);
  const counts = { paired: pages.pairs.length, others: pages.others.length };
  if (counts.paired === 0)
    return nothing(
      counts.others === 0
        ? "this run kept no copies of its pages, because the job had no saved pages yet: run the job again"
        : "none of the saved pages was fetched by the run, or they did not change",
      counts,
    );
  const broken = [...new Set([...reported, ...(await lostIn(deps, job, recipe, pages, signal))])];
  const order = {
    items: (recipe.items ?? null) as JsonValue,
    fields: fieldsOf(recipe),
    broken,
    pairs: await Promise.all(
      pages.pairs.map(async ({ before, now }) => ({
        before: await inputOf(deps, before),
        now: await inputOf(deps, now),
      })),
    ),
    others: await Promise.all(pages.others.map((page) => inputOf(deps, page))),
  };
  const { reader } = await deps.pages();
  const found = await reader.repair(order, { signal });
  return checked(deps, degraded, { recipe, broken, found, pages }, signal);
}

/** Fields of the rules whose values are not what they were; null: the rule of the records. */
function brokenOf(reasons: readonly DegradedReason[], recipe: Recipe): (string | null)[] {
  const known = new Set(Object.keys(fieldsOf(recipe)));
  const isList = (recipe.items ?? null) !== null;
  return reasons
    .map(({ field }) => field)
    .filter((field) => (field === null ? isList : known.has(field) || Array.isArray(recipe.fields)));
}

/**
 * Fields that the saved versions of failed pages have, and that none of these pages has now. Such a page gives no record,
 * so that nothing else says which of its other rules broke.
 */
async function lostIn(
  deps: FixtureDeps,
  job: JobRecord,
  recipe: Recipe,
  { pairs, failed }: ChosenPages,
  signal: AbortSignal,
): Promise<string[]> {
  const filledIn = (records: readonly Record<string, unknown>[]) =>
    new Set(records.flatMap((record) => Object.keys(record).filter((name) => !isEmpty(record[name] as JsonValue))));
  const known = Object.keys(fieldsOf(recipe));
  const [had, has] = [new Set<string>(), new Set<string>()];
  for (const { before, now } of pairs) {
    if (!failed.has(now.number)) continue;
    const { extraction } = await readAgain(deps, job, recipe, now, signal);
    for (const name of filledIn(await recordsOf(deps, before))) had.add(name);
    for (const name of filledIn(extraction.records)) has.add(name);
  }
  return known.filter((name) => had.has(name) && !has.has(name));
}

function fieldsOf({ fields }: Rules): Record<string, JsonValue> {
  if (fields === null || typeof fields !== "object" || Array.isArray(fields)) return {};
  return fields as Record<string, JsonValue>;
}

const oldRule = (field: string | null, recipe: Rules): JsonValue =>
  (field === null ? recipe.items : (fieldsOf(recipe)[field] ?? null)) as JsonValue;

const leftAlone = (field: string | null, recipe: Rules, reason: string): FieldRepair => ({
  field,
  old_rule: oldRule(field, recipe),
  new_rule: null,
  confidence: null,
  reason,
  values: [],
});

/** Saved pages of these rules, unless a degraded run saved them. */
async function goodFixtures(
  deps: FixtureDeps,
  job: JobRecord,
  recipe: Recipe,
  health: readonly HealthRecord[],
): Promise<FixtureRecord[]> {
  const rules = rulesFingerprint(recipe);
  const bad = new Set(
    health.filter(({ reasons, acceptedAt }) => reasons !== null && acceptedAt === null).map(({ runId }) => runId),
  );
  return (await fixturesOf(deps, job)).filter((fixture) => fixture.rules === rules && !bad.has(fixture.runId));
}

interface ChosenPages {
  pairs: { before: FixtureRecord; now: RunPageRecord }[];
  others: RunPageRecord[];
  /** Numbers of the paired pages that failed on a required field. */
  failed: ReadonlySet<number>;
}

async function chosenPages(deps: FixtureDeps, run: RunRecord, saved: readonly FixtureRecord[]): Promise<ChosenPages> {
  const pairs: ChosenPages["pairs"] = [];
  const others: RunPageRecord[] = [];
  const failed = new Set<number>();
  const isFailed = async ({ taskId }: RunPageRecord) => (await deps.store.task(taskId))?.state === "failed";
  for await (const page of keptPages(deps, run.id)) {
    const before = saved.find(({ url }) => url === page.url);
    if (before === undefined) {
      // Whether a page that failed ever had the field is known only of saved pages.
      if (others.length < MAX_OTHERS && !(await isFailed(page))) others.push(page);
    } else if (pairs.length < MAX_PAIRS && before.hash !== page.hash) {
      pairs.push({ before, now: page });
      if (await isFailed(page)) failed.add(page.number);
    }
  }
  return { pairs, others, failed };
}

async function inputOf(deps: FixtureDeps, kept: FixtureRecord | RunPageRecord): Promise<PageInput> {
  const { answer } = await keptAnswer(deps, kept);
  return { body: answer.body, contentType: answer.contentType, url: kept.url };
}

interface Found {
  recipe: Recipe;
  broken: readonly (string | null)[];
  found: RepairedRules;
  pages: ChosenPages;
}

/** Reads the pages as a run would, by the old and the new rules, and leaves out what does not hold there. */
async function checked(deps: FixtureDeps, degraded: Degraded, found: Found, signal: AbortSignal): Promise<Computed> {
  const { job, health } = degraded;
  const { recipe, pages } = found;
  const all = [...pages.pairs.map(({ now }) => now), ...pages.others];
  const repairs = repairsOf(found);
  const rules = rulesWith(recipe, repairs);
  const before = await recordsBy(deps, job, recipe, all, signal);
  const after = await recordsBy(deps, job, { ...recipe, ...rules }, all, signal);
  const saved = new Map<string, Record<string, JsonValue>[]>();
  for (const { before: fixture, now } of pages.pairs) saved.set(now.url, await recordsOf(deps, fixture));
  const usual = health.find(({ isBaseline, rules: of }) => isBaseline && of === health[0]?.rules)?.profile ?? null;
  const fields = repairs.map(([field, repair]): FieldRepair => {
    const about = leftAlone(field, recipe, "");
    if (repair.kind === "abstained") return { ...about, reason: repair.reason };
    const why =
      after.failed > before.failed
        ? "a page of the run fails by the new rules"
        : field === null
          ? null
          : whyWorse(field, valuesIn(before, field), valuesIn(after, field), usual);
    const values = field === null ? countsOn(all, saved, before, after) : shownValues(field, all, saved, before, after);
    if (why !== null) return { ...about, reason: why, values };
    return { ...about, new_rule: repair.rule as JsonValue, confidence: repair.confidence, reason: null, values };
  });
  const kept = fields.filter(({ new_rule }) => new_rule !== null);
  const counts = { paired: pages.pairs.length, others: pages.others.length };
  // The rules of a list belong together.
  const isWhole =
    (recipe.items ?? null) === null || fields.every(({ new_rule, field }) => field !== null || new_rule !== null);
  if (kept.length === 0 || !isWhole) {
    const left = fields.map((one) =>
      one.new_rule === null ? one : leftAlone(one.field, recipe, "the rule of the records could not be repaired"),
    );
    return { proposal: { fields: left, pages: counts, reason: null }, rules: null };
  }
  const accepted = new Set(kept.map(({ field }) => field));
  const final = rulesWith(
    recipe,
    repairs.filter(([field]) => accepted.has(field)),
  );
  return { proposal: { fields, pages: counts, reason: null }, rules: final };
}

function repairsOf({ broken, found }: Found): [string | null, Repair][] {
  const list = Object.entries(found.fields) as [string | null, Repair][];
  const missing = broken.filter((field) => field !== null && found.fields[field] === undefined);
  return [
    ...(found.items === null ? [] : [[null, found.items] as [null, Repair]]),
    ...list,
    ...missing.map((field): [string | null, Repair] => [field, { kind: "abstained", reason: "no rule was found" }]),
  ];
}

function rulesWith(recipe: Rules, repairs: readonly [string | null, Repair][]): Rules {
  const fields = { ...fieldsOf(recipe) };
  let items = recipe.items ?? null;
  for (const [field, repair] of repairs) {
    if (repair.kind === "abstained") continue;
    if (field === null) items = repair.rule as typeof items;
    else fields[field] = repair.rule as JsonValue;
  }
  return { fields: fields as Rules["fields"], items };
}

interface ReadPages {
  /** By URL. */
  records: Map<string, Record<string, JsonValue>[]>;
  failed: number;
}

async function recordsBy(
  deps: FixtureDeps,
  job: JobRecord,
  recipe: Recipe,
  pages: readonly RunPageRecord[],
  signal: AbortSignal,
): Promise<ReadPages> {
  const read: ReadPages = { records: new Map(), failed: 0 };
  for (const page of pages) {
    const { extraction } = await readAgain(deps, job, recipe, page, signal);
    if (extraction.errors.length > 0) read.failed += 1;
    read.records.set(page.url, JSON.parse(JSON.stringify(extraction.records)) as Record<string, JsonValue>[]);
  }
  return read;
}

const valuesIn = ({ records }: ReadPages, field: string): JsonValue[] =>
  [...records.values()].flat().map((record) => record[field] ?? null);

const MAX_CLASS_LOSS = 0.2;

/** Compares with the profile of a good run; null: nothing speaks against the new values. */
function whyWorse(
  field: string,
  before: readonly JsonValue[],
  after: readonly JsonValue[],
  usual: HealthProfile | null,
): string | null {
  const filled = (values: readonly JsonValue[]) => values.filter((value) => !isEmpty(value));
  if (filled(after).length < filled(before).length) return "the new rule finds fewer values than the old one";
  const [[name, share] = []] = Object.entries(usual?.fields[field]?.classes ?? {}).toSorted(([, a], [, b]) => b - a);
  const texts = filled(after).filter((value) => typeof value === "string");
  if (name === undefined || share === undefined || texts.length === 0) return null;
  const alike = texts.filter((text) => classOfText(text) === name).length / texts.length;
  return alike >= share - MAX_CLASS_LOSS ? null : `fewer of the new values look like ${name} than before`;
}

type Saved = ReadonlyMap<string, Record<string, JsonValue>[]>;
const LONGEST = 500;

function short(value: JsonValue): JsonValue {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length <= LONGEST ? value : `${text.slice(0, LONGEST)}…`;
}

function shownValues(
  field: string,
  pages: readonly RunPageRecord[],
  saved: Saved,
  before: ReadPages,
  after: ReadPages,
): RepairedValue[] {
  return pages.slice(0, MAX_SHOWN).map(({ url }) => {
    const of = (records: readonly Record<string, JsonValue>[] | undefined) => short(records?.[0]?.[field] ?? null);
    return {
      url: shownUrl(url),
      saved: of(saved.get(url)),
      before: of(before.records.get(url)),
      after: of(after.records.get(url)),
    };
  });
}

/** Of the rule of the records: how many it finds. */
function countsOn(pages: readonly RunPageRecord[], saved: Saved, before: ReadPages, after: ReadPages): RepairedValue[] {
  return pages.slice(0, MAX_SHOWN).map(({ url }) => ({
    url: shownUrl(url),
    saved: saved.get(url)?.length ?? null,
    before: before.records.get(url)?.length ?? 0,
    after: after.records.get(url)?.length ?? 0,
  }));
}
