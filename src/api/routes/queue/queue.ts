import { isOrbError, OrbError } from "../../../base/errors.ts";
import { QUEUE_ITEM_LIMITS } from "../../../domain/lane/queue-item.ts";
import { QUEUE_STATES } from "../../../domain/run/states.ts";
import { listItems, showItem } from "../../../orchestrator/queue/items.ts";
import { retryFailed } from "../../../orchestrator/queue/retry-failed.ts";
import { queueStats } from "../../../orchestrator/queue/stats.ts";
import { submitItems } from "../../../orchestrator/queue/submit.ts";
import type { ApiDeps } from "../../deps.ts";
import type { ApiInstance } from "../../instance.ts";
import { badCursor, decodeCursor, LINK_HEADER, pageQuery, sendPage } from "../../paging.ts";
import { Count, nullable, oneOf, problemAnswer, strict, Time, Uuid } from "../../schemas.ts";
import { RunWaits } from "../runs/run-schemas.ts";
import { Type } from "../../type.ts";
import { CONCURRENCY_KEY_ALIAS } from "./concurrency-keys.ts";

const counts = { queued: Count, in_progress: Count, done: Count, skipped: Count, error: Count, total: Count };
const Stats = strict({ ...counts, lanes: Type.Array(strict({ lane: Type.String(), ...counts })) });

const Name = Type.String({
  minLength: 1,
  maxLength: QUEUE_ITEM_LIMITS.nameLength,
  pattern: "^[A-Za-z0-9_.:-]+$",
});

const NewItem = strict({
  artifact_id: Type.String({
    minLength: 1,
    maxLength: QUEUE_ITEM_LIMITS.artifactIdLength,
    description: "your own id of the item; unique in the queue",
  }),
  url: Type.String({ minLength: 1, maxLength: QUEUE_ITEM_LIMITS.urlLength, description: "absolute, http or https" }),
  concurrency_key: Type.Optional(
    nullable({ ...Name, description: "name of a concurrency limit shared with other items, on any site" }),
  ),
  resolver: Type.Optional({ ...nullable(Name), ...CONCURRENCY_KEY_ALIAS }),
  priority: Type.Optional(
    nullable(
      Type.Integer({
        minimum: -QUEUE_ITEM_LIMITS.priority,
        maximum: QUEUE_ITEM_LIMITS.priority,
        description: "higher priority is processed first",
      }),
    ),
  ),
  payload: Type.Optional(Type.Unknown({ description: "JSON for your own handler, up to 64 KiB" })),
  handler: Type.Optional(nullable(Name)),
});

const MOST_ITEMS = 10_000;
const NewItems = strict({ items: Type.Array(NewItem, { minItems: 1, maxItems: MOST_ITEMS }) });
const Added = strict({ added: Count, existing: Count });

const item = {
  id: Uuid,
  artifact_id: Type.String(),
  status: oneOf(QUEUE_STATES),
  url: nullable(Type.String()),
  site: Type.String(),
  concurrency_key: nullable(Type.String({ description: "the concurrency limit it shares with other items" })),
  resolver: { ...nullable(Type.String()), ...CONCURRENCY_KEY_ALIAS },
  priority: Type.Integer(),
  handler: nullable(Type.String()),
  attempts: Count,
  failure_code: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
  message: nullable(Type.String()),
  next_try_at: nullable(Time),
  owner: nullable(
    strict(
      {
        worker_id: nullable(Type.String()),
        machine: nullable(Type.String()),
        pid: nullable(Type.Integer()),
        lease_expires_at: Type.String({
          format: "date-time",
          description: "end of the lease; renewed while the worker is alive",
        }),
      },
      { description: "the worker that processes it; null: none" },
    ),
  ),
  waiting_for: RunWaits,
  created_at: Time,
  finished_at: nullable(Time),
};

const Attempt = strict({
  attempt: Type.Integer({ minimum: 1 }),
  strategy: Type.String(),
  proxy: nullable(Type.String()),
  started_at: Time,
  duration_ms: Type.Number({ minimum: 0 }),
  http_status: nullable(Type.Integer()),
  failure_code: nullable(Type.String()),
  failure_reason: nullable(Type.String()),
});

const StoredFile = strict({
  id: Uuid,
  hash: Type.String(),
  size: Count,
  content_type: nullable(Type.String()),
  final_url: Type.String(),
  path: Type.String(),
});

const Item = strict(item);
const ItemDetail = strict({
  ...item,
  payload: Type.Unknown(),
  history: Type.Array(Attempt),
  files: Type.Array(StoredFile),
  results: Type.Array(Type.Unknown()),
});

export function queueRoutes(api: ApiInstance, deps: ApiDeps): void {
  api.get(
    "/queue/stats",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Number of items by state, in total and per site",
        operationId: "getQueueStats",
        tags: ["queue"],
        response: { 200: Stats },
      },
    },
    () => queueStats(deps),
  );

  api.post(
    "/queue/items",
    {
      config: { role: "operator", audit: "queue.items_added" },
      schema: {
        summary: "Add one or several items; items whose artifact_id already exists are not changed",
        description: "All or none: one invalid item rejects the call. Items counted as added are stored durably.",
        operationId: "addQueueItems",
        tags: ["queue"],
        body: Type.Union([NewItem, NewItems]),
        response: {
          200: { ...Added, description: "all of them already existed" },
          201: { ...Added, description: "at least one was added" },
        },
      },
    },
    async (request, reply) => {
      const { body } = request;
      const many = "items" in body;
      const report = await submitItems(deps, many ? body.items : [body]).catch((error: unknown) => {
        throw withPathsOfBody(error, many);
      });
      if (!many) reply.header("location", `/queue/items/${encodeURIComponent(body.artifact_id)}`);
      return reply.code(report.added > 0 ? 201 : 200).send(report);
    },
  );

  api.get(
    "/queue/items",
    {
      config: { role: "viewer" },
      schema: {
        summary: "Items, oldest first",
        operationId: "listQueueItems",
        tags: ["queue"],
        querystring: pageQuery({ status: Type.Optional(oneOf(QUEUE_STATES)) }),
        response: { 200: { ...Type.Array(Item), headers: LINK_HEADER } },
      },
    },
    async (request, reply) => {
      const { limit, cursor, status } = request.query;
      const after = decodeCursor(cursor);
      const rows = await listItems(deps, {
        limit: limit + 1,
        ...(status === undefined ? {} : { status }),
        ...(after === undefined ? {} : { after }),
      }).catch((error: unknown) => {
        throw isOrbError(error, "input_invalid") ? badCursor() : error;
      });
      return sendPage(request, reply, { rows, limit, positionOf: (row) => row.id });
    },
  );

  api.get(
    "/queue/items/:id",
    {
      config: { role: "viewer" },
      schema: {
        summary: "One item with its history and its files, by its id or your artifact_id",
        operationId: "getQueueItem",
        tags: ["queue"],
        params: strict({ id: Type.String({ minLength: 1, maxLength: QUEUE_ITEM_LIMITS.artifactIdLength }) }),
        response: { 200: ItemDetail, 404: problemAnswer("the queue has no such item") },
      },
    },
    (request) => showItem(deps, request.params.id, deps.pathOf),
  );

  api.post(
    "/queue/retry-failed",
    {
      config: { role: "operator", audit: "queue.failed_retried" },
      schema: {
        summary: "Retry failed items, of all sites or of one",
        operationId: "retryFailedItems",
        tags: ["queue"],
        body: Type.Union([
          strict({ site: Type.Optional(Type.String({ minLength: 1, maxLength: 300 })) }),
          Type.Null({ description: "no body: all sites" }),
        ]),
        response: { 200: strict({ requeued: Count }) },
      },
    },
    (request) => {
      const site = request.body?.site;
      return retryFailed(deps, site === undefined ? {} : { site });
    },
  );
}

/** The use case numbers items; the caller sent a body. */
function withPathsOfBody(error: unknown, many: boolean): unknown {
  if (!isOrbError(error, "input_invalid") || error.fields.length === 0) return error;
  const fields = error.fields.map(({ path, message }) => ({
    path: many ? `items${path}` : path.replace(/^\[0\]\.?/, ""),
    message,
  }));
  const list = fields.slice(0, 5).map(({ path, message }) => `${path}: ${message}`);
  return new OrbError("input_invalid", `no item was added: ${list.join("; ")}`, { fields });
}
