/** Versions of a job: who changed what, and how to get an earlier one back. */
import { isDeepStrictEqual } from "node:util";
import type { Actor } from "../../domain/access/caller.ts";
import { OrbError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import { without } from "../../base/without.ts";
import type { CrawlRecipe } from "../../domain/crawl/crawl-options.ts";
import type { JsonValue } from "../../domain/lane/queue-item.ts";
import type { JobAuthor } from "../../domain/run/job-author.ts";
import type { Recipe } from "../../domain/run/recipe.ts";
import { isObject } from "../../domain/text/input-reader.ts";
import type { JobDefinition, JobVersionInfo, JobVersionRecord } from "../../store/records/job-records.ts";
import type { JobDeps } from "./deps.ts";
import { replaceJob, requireJob } from "./manage.ts";
import { type JobView, toJobView } from "./view.ts";

interface VersionView {
  version: number;
  made_at: string;
  /** Null: not known, or a program that calls the library. */
  made_by: Actor | null;
  author: JobAuthor;
  restored_version: number | null;
}

type DefinitionView = Omit<
  JobView,
  "id" | "site" | "last_run" | "next_run_at" | "version" | "created_at" | "updated_at"
>;

interface Difference {
  /** Such as `fields.price.css`. */
  path: string;
  before: JsonValue;
  after: JsonValue;
}

interface VersionDetails extends VersionView {
  definition: DefinitionView;
  /** The version before; null: there is none, or it is no longer kept. */
  compared_with: number | null;
  changes: Difference[];
}

const toView = ({ version, madeAt, madeBy, author, restored }: JobVersionInfo): VersionView => ({
  version,
  made_at: isoOf(madeAt),
  made_by: madeBy,
  author,
  restored_version: restored,
});

export async function listVersions(
  deps: JobDeps,
  jobId: string,
  options: { before?: number; limit: number },
): Promise<VersionView[]> {
  await requireJob(deps, jobId);
  return (await deps.store.jobVersions(jobId, options)).map(toView);
}

export async function showVersion(deps: JobDeps, jobId: string, version: number): Promise<VersionDetails> {
  const record = await requireVersion(deps, jobId, version);
  const before = version === 1 ? null : await deps.store.jobVersion(jobId, version - 1);
  return {
    ...toView(record),
    definition: shownDefinition(record.definition),
    compared_with: before?.version ?? null,
    changes: before === null ? [] : changesBetween(before.definition, record.definition),
  };
}

/** Makes the definition of an earlier version the newest one; nothing is lost. */
export async function restoreVersion(
  deps: JobDeps,
  jobId: string,
  version: number,
  author: JobAuthor,
  expected?: string,
): Promise<VersionDetails> {
  const { definition } = await requireVersion(deps, jobId, version);
  await replaceJob(deps, jobId, definition, { author, restored: version }, expected);
  const [newest] = await deps.store.jobVersions(jobId, { limit: 1 });
  return showVersion(deps, jobId, newest!.version);
}

async function requireVersion(deps: JobDeps, jobId: string, version: number): Promise<JobVersionRecord> {
  await requireJob(deps, jobId);
  const record = await deps.store.jobVersion(jobId, version);
  if (record !== null) return record;
  throw new OrbError("not_found", `the job has no version ${version}`, {
    hint: `List them: orb jobs versions ${jobId}. The newest 100 are kept.`,
  });
}

/** As the job shows it: without the values of headers and cookies. */
function shownDefinition(definition: JobDefinition): DefinitionView {
  const job = { ...definition, id: "", nextAt: null, nextOccurrenceAt: null };
  const view = toJobView({ ...job, schedulePausedAt: null, createdAt: 0, updatedAt: 0 }, null, 0);
  return without(view, "id", "site", "last_run", "next_run_at", "version", "created_at", "updated_at");
}

const HIDDEN = "(hidden)";

function changesBetween(before: JobDefinition, after: JobDefinition): Difference[] {
  const changes = differences(comparable(before), comparable(after), "");
  // Names are in the definition; a new value of the same name shows only that it is new.
  const secrets = [secretsOf(before), secretsOf(after)] as const;
  if (isDeepStrictEqual(...secrets)) return changes;
  return [...changes, { path: "credentials", before: HIDDEN, after: HIDDEN }];
}

/** What a crawl shows both in `crawl` and beside it is compared once. */
function comparable(definition: JobDefinition): JsonValue {
  const view = JSON.parse(JSON.stringify(shownDefinition(definition))) as Record<string, JsonValue>;
  const { crawl } = view;
  if (!isObject(crawl)) return view;
  const isTwice = (key: string) => key in crawl && isDeepStrictEqual(view[key], crawl[key]);
  return Object.fromEntries(Object.entries(view).filter(([key]) => key === "crawl" || !isTwice(key)));
}

function secretsOf({ kind, recipe }: JobDefinition): unknown {
  const { sealed, sealed_proxy: proxy } =
    kind === "crawl" ? (recipe as CrawlRecipe).crawl : ((recipe ?? {}) as Partial<Recipe>);
  return [sealed ?? null, proxy ?? null];
}

function differences(before: JsonValue, after: JsonValue, path: string): Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  if (!isObject(before) || !isObject(after)) return [{ path, before, after }];
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].flatMap((key) =>
    differences(
      (before[key] ?? null) as JsonValue,
      (after[key] ?? null) as JsonValue,
      path === "" ? key : `${path}.${key}`,
    ),
  );
}
