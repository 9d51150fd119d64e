/** The history of a monitor: what changed, and how. */
import type { Readable } from "node:stream";
import { OrbError, isOrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { MonitorDiff } from "../../domain/monitor/compare.ts";
import { decodeContent } from "../../domain/monitor/content.ts";
import type { PageChangeKind } from "../../domain/monitor/monitored-page.ts";
import type { Monitored } from "../../domain/monitor/options.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { MonitorChangeRecord } from "../../store/ports/monitors/monitor-port.ts";
import type { JobDeps } from "./deps.ts";
import { requireJob } from "./manage.ts";
import { readMonitored } from "../../pages/monitor-files.ts";

interface ChangeView {
  /** From 1, per job. */
  number: number;
  run_id: string;
  url: string;
  change: PageChangeKind;
  what: Monitored;
  found_at: string;
  /** When the page was last read before. */
  previous_at: string | null;
  words_added: number;
  words_removed: number;
  share: number;
  /** The first difference; null: new or removed pages, and pages that were fetched with credentials. */
  summary: string | null;
}

interface ChangeDetails extends ChangeView {
  diff: Required<MonitorDiff> | null;
  /** Which contents can be read. */
  contents: ("before" | "after")[];
}

interface ChangesRequest {
  before?: number;
  limit: number;
  change?: PageChangeKind;
  runId?: string;
}

function toView(record: MonitorChangeRecord): ChangeView {
  return {
    number: record.number,
    run_id: record.runId,
    url: shownUrl(record.url),
    change: record.change,
    what: record.what,
    found_at: isoOf(record.foundAt),
    previous_at: isoOrNull(record.beforeAt),
    words_added: record.added,
    words_removed: record.removed,
    share: Math.round(record.share * 1e6) / 1e6,
    summary: record.summary,
  };
}

export async function listChanges(deps: JobDeps, jobId: string, request: ChangesRequest): Promise<ChangeView[]> {
  await requireJob(deps, jobId);
  return (await deps.store.monitorChanges(jobId, request)).map(toView);
}

type ContentDeps = JobDeps & { openArtifact(hash: string): Promise<Readable> };

async function requireChange(deps: JobDeps, jobId: string, number: number): Promise<MonitorChangeRecord> {
  await requireJob(deps, jobId);
  const change = await deps.store.monitorChange(jobId, number);
  if (change !== null) return change;
  throw new OrbError("not_found", `the job has no change with the number ${number}`, {
    hint: "It may be older than the history keeps. See orb jobs changes.",
  });
}

export async function showChange(deps: ContentDeps, jobId: string, number: number): Promise<ChangeDetails> {
  const change = await requireChange(deps, jobId, number);
  const { diff: file, before, after } = change.files;
  const bytes = file === undefined ? null : await contentOrNull(deps, file);
  return {
    ...toView(change),
    diff: bytes === null ? null : { ignored: [], ...(JSON.parse(bytes.toString("utf8")) as MonitorDiff) },
    contents: [
      ...(before === undefined ? [] : ["before" as const]),
      ...(after === undefined ? [] : ["after" as const]),
    ],
  };
}

async function contentOrNull(deps: ContentDeps, file: Parameters<typeof readMonitored>[1]): Promise<Buffer | null> {
  try {
    return await readMonitored(deps, file);
  } catch (error) {
    if (isOrbError(error, "not_found")) return null;
    throw error;
  }
}

/** The content that was compared. */
export async function changeContent(
  deps: ContentDeps,
  jobId: string,
  number: number,
  which: "before" | "after",
): Promise<{ bytes: Buffer; contentType: string }> {
  const change = await requireChange(deps, jobId, number);
  const file = change.files[which];
  const bytes = file === undefined ? null : await contentOrNull(deps, file);
  if (bytes === null) throw new OrbError("not_found", `the change has no content ${which} it`);
  const isText = change.what !== "screenshot" && change.what !== "fields";
  return { bytes: isText ? Buffer.from(decodeContent(bytes).text) : bytes, contentType: TYPES[change.what] };
}

const TYPES: Readonly<Record<Monitored, string>> = {
  text: "text/plain; charset=utf-8",
  links: "text/plain; charset=utf-8",
  markdown: "text/markdown; charset=utf-8",
  fields: "application/json",
  screenshot: "image/png",
};
