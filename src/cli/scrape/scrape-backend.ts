/** Where `orb scrape` runs: in a local worker, or on a server. */
import type { RunEvent } from "../../api-client/client.ts";
import { followRun } from "../../events/follow.ts";
import type { ExportRecord } from "../../exporters/exporter.ts";
import { exporterNamed } from "../../exporters/registry.ts";
import { requireExtractor } from "../../orchestrator/jobs/extractor-input.ts";
import { type JobInput, pageJobFrom } from "../../orchestrator/jobs/input.ts";
import { cancelRun, requireRun } from "../../orchestrator/runs/control.ts";
import { allResults, columnsOf, showArtifact, showRun } from "../../orchestrator/runs/read.ts";
import { startPageRun } from "../../orchestrator/runs/start.ts";
import type { RunView } from "../../orchestrator/runs/view.ts";
import { asUnchecked } from "../api/command.ts";
import { runEvents } from "../api/events.ts";
import type { OpenApi } from "../context.ts";
import type { CliWorker } from "../wiring.ts";

export interface ScrapeBackend {
  begin(input: JobInput): Promise<string>;
  /** Until the run has ended or `signal` aborts. */
  events(id: string, signal: AbortSignal): AsyncIterable<Pick<RunEvent, "message" | "level">>;
  show(id: string): Promise<RunView>;
  cancel(id: string): Promise<unknown>;
  records(id: string): AsyncIterable<ExportRecord>;
  /** All records in one of the formats. */
  inForm(id: string, format: string): Promise<AsyncIterable<Uint8Array>>;
  artifact(id: string): Promise<AsyncIterable<Uint8Array>>;
}

export function localBackend(worker: CliWorker): ScrapeBackend {
  const records = (id: string) => allResults(worker, id) as AsyncIterable<ExportRecord>;
  return {
    begin: async (input) => {
      const job = pageJobFrom(input, worker);
      await requireExtractor(worker, input);
      return (await startPageRun(worker, { ...job, id: null })).id;
    },
    events: (id, signal) => followRun(worker, id, null, signal),
    show: (id) => showRun(worker, id),
    cancel: (id) => cancelRun(worker, id),
    records,
    inForm: async (id, format) => {
      const columns = columnsOf(await requireRun(worker, id));
      return exporterNamed(format).export(records(id), columns === null ? {} : { columns });
    },
    artifact: async (id) => worker.openArtifact((await showArtifact(worker, id)).hash),
  };
}

export function remoteBackend(api: OpenApi): ScrapeBackend {
  return {
    // The server validates it.
    begin: async (input) => (await api.runs.start(asUnchecked(input))).id,
    events: (id, signal) => runEvents(api, id, signal),
    show: (id) => api.runs.get(id),
    cancel: (id) => api.runs.cancel(id),
    records: (id) => api.runs.results(id) as AsyncIterable<ExportRecord>,
    inForm: async (id, format) =>
      api.open("get /jobs/runs/{run_id}/results", { params: { run_id: id }, query: { format: asUnchecked(format) } }),
    artifact: (id) => api.artifact(id),
  };
}
