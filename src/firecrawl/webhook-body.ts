/** The body of a webhook for a run, in Firecrawl's shape. */
import type { WebhookEvent, WebhookTarget } from "../domain/run/webhooks.ts";
import type { RunRecord, Store } from "../store/ports/port.ts";
import type { WebhookCall } from "../store/ports/webhook-port.ts";
import { markOf } from "./deps.ts";
import { type FirecrawlDocument, toDocument } from "./document.ts";

interface WebhookBody {
  success: boolean;
  type: string;
  id: string;
  webhookId: string;
  data: FirecrawlDocument[];
  error?: string;
  metadata: Readonly<Record<string, unknown>>;
}

/** A batch knows three events: however it ends, that is its completion. */
const OF_BATCH: Partial<Record<WebhookEvent, WebhookEvent>> = { failed: "completed", cancelled: "completed" };

export async function webhookBody(
  store: Store,
  runId: string,
  call: WebhookCall,
  target: WebhookTarget,
): Promise<WebhookBody | null> {
  const run = await store.run(runId);
  if (run === null) return null;
  const batch = markOf(run)?.kind === "batch";
  const event = batch ? (OF_BATCH[call.event] ?? call.event) : call.event;
  const { data, error } =
    call.event === "page" ? await pageOf(store, run, target.base, call.taskId ?? "") : endOf(run, call.event);
  return {
    success: error === null,
    type: `${batch ? "batch_scrape" : "crawl"}.${event}`,
    id: runId,
    webhookId: call.id,
    data,
    ...(error === null ? {} : { error }),
    metadata: target.metadata,
  };
}

type EventData = { data: FirecrawlDocument[]; error: string | null };

async function pageOf(store: Store, run: RunRecord, base: string, taskId: string): Promise<EventData> {
  const task = await store.task(taskId);
  const [data] = await store.resultsOf(taskId);
  const url = task?.url ?? null;
  const createdAt = task?.endedAt ?? 0;
  if (task?.state !== "completed") {
    const { failure } = task ?? { failure: null };
    const result = { id: "", taskId, runId: run.id, url, ordinal: 0, data: {}, createdAt };
    const document = toDocument(result, { base, mark: null });
    const error = failure?.message ?? "the page could not be fetched";
    const statusCode = failure?.httpStatus === undefined ? {} : { statusCode: failure.httpStatus };
    return { data: [{ metadata: { ...document.metadata, ...statusCode, error } }], error };
  }
  if (data === undefined) return { data: [], error: null };
  const result = { id: "", taskId, runId: run.id, url, ordinal: 0, data, createdAt };
  return { data: [toDocument(result, { base, mark: markOf(run) })], error: null };
}

function endOf(run: RunRecord, event: WebhookEvent): EventData {
  if (event === "failed") return { data: [], error: run.message ?? "the crawl failed" };
  return { data: [], error: event === "cancelled" ? "cancelled" : null };
}
