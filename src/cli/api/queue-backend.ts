/** The queue behind its commands: on the local database, or on a server. */
import { configuredLimit } from "../../domain/lane/lane.ts";
import type { QueueItem } from "../../domain/lane/queue-item.ts";
import type { QueueState } from "../../domain/run/states.ts";
import { type EnqueueReport, enqueueItems } from "../../orchestrator/queue/enqueue.ts";
import { listItems, type QueueItemDetail, type QueueItemView, showItem } from "../../orchestrator/queue/items.ts";
import { resolverLimit, setResolverLimit } from "../../orchestrator/queue/resolvers.ts";
import { retryFailed } from "../../orchestrator/queue/retry-failed.ts";
import { type QueueStats, queueStats } from "../../orchestrator/queue/stats.ts";
import type { OrbweaverClient } from "../../api-client/client.ts";
import type { CliContext } from "../context.ts";
import type { CliClient } from "../wiring.ts";
import { asUnchecked, definedOnly, type UrlOption } from "./command.ts";

interface QueueBackend {
  add(items: readonly QueueItem[]): Promise<EnqueueReport>;
  stats(): Promise<QueueStats>;
  /** `next` is the cursor of the next page; null: this is the last. */
  list(options: {
    status?: QueueState;
    limit: number;
    after?: string;
  }): Promise<{ items: QueueItemView[]; next: string | null }>;
  show(name: string): Promise<QueueItemDetail>;
  retryFailed(options: { site?: string }): Promise<{ requeued: number }>;
  /** Sets the limit unless `change` is undefined (null: as configured), and returns it. */
  concurrencyLimit(name: string, change: number | null | undefined): Promise<number | null>;
}

export function withQueue(
  context: CliContext,
  { url }: UrlOption,
  work: (queue: QueueBackend) => Promise<unknown>,
): Promise<void> {
  if (url === undefined) return context.withClient((client) => work(localBackend(context, client)));
  return context.withApi({ url }, (api) => work(remoteBackend(api)));
}

function localBackend(context: CliContext, client: CliClient): QueueBackend {
  return {
    add: (items) => enqueueItems(client, items),
    stats: () => queueStats(client),
    list: async (options) => {
      const items = await listItems(client, options);
      return { items, next: items.length === options.limit ? (items.at(-1)?.id ?? null) : null };
    },
    show: (name) => showItem(client, name, client.pathOf),
    retryFailed: (options) => retryFailed(client, options),
    concurrencyLimit: async (name, change) => {
      if (change !== undefined) await setResolverLimit(client, name, change);
      const limits = context.wiring.loadConfig().config.maxPerConcurrencyKey;
      return (await resolverLimit(client, name)) ?? configuredLimit(limits, name);
    },
  };
}

const LARGEST_PAGE = 1000;
/** Maximum body of one call; a server accepts a mebibyte. */
const MOST_BYTES = 500_000;

function remoteBackend(api: OrbweaverClient): QueueBackend {
  return {
    add: async (items) => {
      const report: EnqueueReport = { added: 0, existing: 0 };
      for (const part of inParts(items.map(bodyOf))) {
        const { added, existing } = await api.request("post /queue/items", { body: asUnchecked({ items: part }) });
        report.added += added;
        report.existing += existing;
      }
      return report;
    },
    stats: () => api.request("get /queue/stats"),
    list: async ({ status, limit, after }) => {
      const items: QueueItemView[] = [];
      const query = asUnchecked(definedOnly({ status, limit: Math.min(limit, LARGEST_PAGE), cursor: after }));
      for await (const page of api.list("get /queue/items", { query }).pages()) {
        items.push(...(page.rows as QueueItemView[]));
        if (items.length === limit) return { items, next: page.next };
        if (items.length > limit) break;
      }
      return { items: items.slice(0, limit), next: null };
    },
    show: (name) => api.request("get /queue/items/{id}", { params: { id: name } }) as Promise<QueueItemDetail>,
    retryFailed: ({ site }) => api.request("post /queue/retry-failed", { body: asUnchecked(definedOnly({ site })) }),
    concurrencyLimit: async (name, change) => {
      const params = { name };
      const { limit } =
        change === undefined
          ? await api.request("get /queue/concurrency-keys/{name}", { params })
          : await api.request("put /queue/concurrency-keys/{name}", { params, body: { limit: change } });
      return limit;
    },
  };
}

function bodyOf({ artifactId, url, concurrencyKey, priority, payload, handler }: QueueItem): Record<string, unknown> {
  const item = { artifact_id: artifactId, url, concurrency_key: concurrencyKey, priority, payload, handler };
  const entries = Object.entries(item);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null));
}

function* inParts(items: readonly Record<string, unknown>[]): Generator<Record<string, unknown>[]> {
  let part: Record<string, unknown>[] = [];
  let bytes = 0;
  for (const item of items) {
    const size = Buffer.byteLength(JSON.stringify(item));
    if (part.length > 0 && bytes + size > MOST_BYTES) {
      yield part;
      [part, bytes] = [[], 0];
    }
    part.push(item);
    bytes += size;
  }
  if (part.length > 0) yield part;
}
