import { OrbError } from "../../base/errors.ts";
import type { Random } from "../../base/random.ts";
import type { CrawlSnapshot } from "../../domain/crawl/crawl-options.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { Archiver, ExportRecord } from "../../exporters/exporter.ts";
import { exportFileName } from "../../exporters/file-name.ts";
import { formatNamed } from "../../exporters/registry.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { requireRun } from "./control.ts";
import { flatResults } from "./flat-results.ts";
import { invalid } from "../invalid.ts";
import { allResultsOf, changedResults, columnsOf, requireComparable } from "./read.ts";

interface ExportDeps extends OrchestratorDeps {
  random: Random;
  openArtifact(hash: string): Promise<AsyncIterable<Uint8Array>>;
  settings: { version: string };
}

interface RunExport {
  contentType: string;
  fileName: string;
  bytes: AsyncIterable<Uint8Array>;
}

/** Exports all results so far as a stream. */
export async function exportRun(
  deps: ExportDeps,
  id: string,
  format: string,
  { onlyChanged = false }: { onlyChanged?: boolean } = {},
): Promise<RunExport> {
  const run = await requireRun(deps, id);
  const how = formatNamed(format);
  const file = { contentType: how.contentType, fileName: exportFileName(run, format) };
  if ("archive" in how && onlyChanged) throw invalid([{ path: "query.only_changed", message: NOT_OF_ARCHIVES }]);
  if (onlyChanged) requireComparable(run);
  if ("archive" in how) return { ...file, bytes: archiveOf(deps, run, how, file.fileName) };
  const columns = columnsOf(run);
  const isTable = run.kind === "crawl" && format !== "json" && format !== "jsonl";
  const found = onlyChanged ? changedResults(deps, run) : allResultsOf(deps, run);
  const records = (isTable ? flatResults(run, found) : found) as AsyncIterable<ExportRecord>;
  return { ...file, bytes: how.export(records, columns === null ? {} : { columns }) };
}

const NOT_OF_ARCHIVES =
  "cannot be combined with an archive, which contains every fetched page: choose another format or remove it";

function archiveOf(deps: ExportDeps, run: RunRecord, how: Archiver, fileName: string): AsyncIterable<Uint8Array> {
  const options = run.kind === "crawl" ? (run.snapshot as Partial<CrawlSnapshot> | null)?.options : undefined;
  if (options?.export_format !== how.name)
    throw new OrbError(
      "not_archived",
      `this run did not store raw responses, so it cannot be exported as ${how.name}`,
      {
        hint: `Start a crawl with "export_format": "${how.name}", or with orb crawl --format ${how.name}.`,
      },
    );
  return how.archive(exchangesOf(deps, run.id), {
    id: deps.random.uuid(),
    now: deps.clock.now(),
    fileName,
    fields: {
      software: `Orbweaver/${deps.settings.version}`,
      isPartOf: run.id,
      ...(run.url === null ? {} : { description: `a crawl from ${shownUrl(run.url)}` }),
      robots: options.respect_robots ? "obey" : "ignore",
    },
  });
}

const PAGE = 500;

/** Every stored file, opened when the stream reaches it. */
async function* exchangesOf(
  { store, openArtifact }: ExportDeps,
  id: string,
): AsyncGenerator<AsyncIterable<Uint8Array>> {
  let after: string | undefined;
  for (;;) {
    const page = await store.exchanges(id, { limit: PAGE, ...(after === undefined ? {} : { after }) });
    for (const { hash } of page) yield await openArtifact(hash);
    after = page.at(-1)?.id;
    if (page.length < PAGE || after === undefined) return;
  }
}
