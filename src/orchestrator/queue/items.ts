import { OrbError } from "../../base/errors.ts";
import { isoOf, isoOrNull } from "../../base/iso.ts";
import type { Attempt } from "../../domain/run/outcome.ts";
import { type QueueState, queueStateOf, taskStatesOf } from "../../domain/run/states.ts";
import type { WaitingView } from "../../domain/run/waiting.ts";
import { withoutSecrets } from "../../domain/text/sealed-text.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { TaskRecord } from "../../store/ports/port.ts";
import type { ArtifactRecord } from "../../store/records/output-records.ts";
import type { RunSiteDeps } from "../runs/sites.ts";
import { type ItemOwner, ownersOf } from "./item-owners.ts";
import { QUEUE_ALIAS } from "./queue-run.ts";
import { usedUpLimits } from "./waiting-items.ts";

/** A queue item as the API returns it. */
export interface QueueItemView {
  id: string;
  artifact_id: string;
  status: QueueState;
  url: string | null;
  site: string;
  /** The concurrency limit it shares with other items. */
  concurrency_key: string | null;
  /** @deprecated Alias of `concurrency_key`. */
  resolver: string | null;
  priority: number;
  handler: string | null;
  attempts: number;
  failure_code: string | null;
  failure_reason: string | null;
  message: string | null;
  /** When the retry is due. */
  next_try_at: string | null;
  /** Which worker holds it; null: not in progress. */
  owner: ItemOwner | null;
  /** Of a queued item: the limit of its concurrency key, if that is used up. */
  waiting_for: WaitingView | null;
  created_at: string;
  finished_at: string | null;
}

export interface QueueItemDetail extends QueueItemView {
  payload: unknown;
  history: Attempt[];
  files: { id: string; hash: string; size: number; content_type: string | null; final_url: string; path: string }[];
  results: unknown[];
}

interface AboutItems {
  owners: ReadonlyMap<string, ItemOwner>;
  waits: ReadonlyMap<string, WaitingView>;
}

async function aboutItems(deps: RunSiteDeps, runId: string, tasks: readonly TaskRecord[]): Promise<AboutItems> {
  return { owners: await ownersOf(deps, tasks), waits: await usedUpLimits(deps, runId, tasks) };
}

function toView(task: TaskRecord, { owners, waits }: AboutItems): QueueItemView {
  return {
    id: task.id,
    artifact_id: task.key,
    status: queueStateOf(task.state),
    url: task.url === null ? null : shownUrl(task.url),
    site: task.site ?? task.lane,
    concurrency_key: task.resolver,
    resolver: task.resolver,
    priority: task.priority,
    handler: task.handler,
    attempts: task.attempts.length,
    failure_code: task.failure?.code ?? null,
    failure_reason: task.failure?.reason ?? null,
    message: task.failure?.message ?? (task.detail as { why?: string } | null)?.why ?? null,
    next_try_at: task.state === "retrying" ? isoOf(task.readyAt) : null,
    owner: task.state === "running" ? (owners.get(task.lane) ?? null) : null,
    waiting_for: task.state === "queued" ? (waits.get(task.resolver ?? "") ?? null) : null,
    created_at: isoOf(task.createdAt),
    finished_at: isoOrNull(task.endedAt),
  };
}

export async function listItems(
  deps: RunSiteDeps,
  filter: { status?: QueueState; limit: number; after?: string },
): Promise<QueueItemView[]> {
  const { store } = deps;
  const run = await store.runByAlias(QUEUE_ALIAS);
  // Silently starting over would make a script that pages through the queue loop forever.
  if (filter.after !== undefined && (await store.task(filter.after))?.runId !== run?.id)
    throw new OrbError("input_invalid", `${filter.after} is not the id of an item of the queue`, {
      hint: "Use the `id` of the last listed item.",
    });
  if (run === null) return [];
  const tasks = await store.tasks(run.id, {
    limit: filter.limit,
    ...(filter.status === undefined ? {} : { states: taskStatesOf(filter.status) }),
    ...(filter.after === undefined ? {} : { after: filter.after }),
  });
  const about = await aboutItems(deps, run.id, tasks);
  return tasks.map((task) => toView(task, about));
}

/** One item, by the user's artifact_id or by our id. */
export async function showItem(
  deps: RunSiteDeps,
  name: string,
  pathOf: (hash: string) => string,
): Promise<QueueItemDetail> {
  const { store } = deps;
  const run = await store.runByAlias(QUEUE_ALIAS);
  const task = run === null ? null : ((await store.taskByKey(run.id, name)) ?? (await store.task(name)));
  if (task === null || task.runId !== run?.id)
    throw new OrbError("not_found", `the queue has no item named ${name}`, {
      hint: "orb queue list shows all items.",
    });
  const files = await store.artifactsOf(task.id);
  return {
    ...toView(task, await aboutItems(deps, run.id, [task])),
    payload: withoutSecrets(task.payload),
    history: task.attempts,
    files: files.map((file: ArtifactRecord) => ({
      id: file.id,
      hash: file.hash,
      size: file.size,
      content_type: file.contentType,
      final_url: shownUrl(file.url),
      path: pathOf(file.hash),
    })),
    results: await store.resultsOf(task.id),
  };
}
