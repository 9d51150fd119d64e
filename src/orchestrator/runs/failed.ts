import { OrbError } from "../../base/errors.ts";
import { isoOf } from "../../base/iso.ts";
import { retryMayHelp } from "../../domain/run/classify.ts";
import { type ErrorClass, errorClassOf } from "../../domain/crawl/crawl-end.ts";
import { FAILURE_REASONS, type FailureCode, type FailureReason } from "../../domain/run/failure.ts";
import type { ArtifactRole } from "../../domain/run/outcome.ts";
import { OPEN_TASK_STATES, TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { RunRecord } from "../../store/ports/port.ts";
import type {
  FailedChoice,
  Requeued,
  RequeuePosition,
  RequeueWindow,
  RunErrorRecord,
} from "../../store/ports/progress-port.ts";
import { admitCrawls, type AdmissionDeps } from "../crawls/turns.ts";
import type { OrchestratorDeps } from "../deps.ts";
import { siteName } from "../sites/sites.ts";
import { requireRun } from "./control.ts";

/** Tasks that failed for the same reason. */
export interface ErrorGroup {
  failure_code: FailureCode;
  failure_reason: FailureReason;
  class: ErrorClass;
  count: number;
  /** Failed permanently, or retried automatically. */
  status: "failed" | "retrying";
  /** Whether another attempt may succeed. */
  retryable: boolean;
  /** When the first of them is retried. */
  next_try_at: string | null;
  example: { url: string | null; message: string; task_id: string };
}

export function toErrorGroup(record: RunErrorRecord): ErrorGroup {
  const { code, reason, count, exampleUrl, exampleMessage, exampleTaskId, nextTryAt } = record;
  return {
    failure_code: code,
    failure_reason: reason,
    class: errorClassOf(code),
    count,
    status: nextTryAt === undefined ? "failed" : "retrying",
    retryable: nextTryAt !== undefined || retryMayHelp(reason),
    next_try_at: nextTryAt === undefined ? null : isoOf(nextTryAt),
    example: {
      url: exampleUrl === null ? null : shownUrl(exampleUrl),
      message: exampleMessage,
      task_id: exampleTaskId,
    },
  };
}

/** A group with the screenshot and page copy of its example. */
export interface ShownErrorGroup extends ErrorGroup {
  example: ErrorGroup["example"] & { screenshot_id: string | null; snapshot_id: string | null };
}

export const ERROR_STATUSES = ["failed", "retrying", "retryable", "all"] as const;
type ErrorStatus = (typeof ERROR_STATUSES)[number];

/** Failures of a run, retrying ones first, then by frequency. There are no more groups than reasons. */
export async function listErrorGroups(
  deps: OrchestratorDeps,
  id: string,
  status: ErrorStatus = "failed",
): Promise<ShownErrorGroup[]> {
  const run = await requireRun(deps, id);
  const isOver = TERMINAL_RUN_STATES.includes(run.status);
  const runs = run.kind === "workflow" && !isOver ? [id, ...(await runsOfOpenSteps(deps, id))] : [id];
  const retrying: RunErrorRecord[] = [];
  const failed: RunErrorRecord[] = [];
  for (const runId of runs) {
    if (status !== "failed" && !isOver) retrying.push(...(await deps.store.retryReasons(runId)));
    if (status !== "retrying") failed.push(...(await deps.store.runErrors(runId)));
  }
  const groups = [...byReason(retrying), ...byReason(failed)]
    .map(toErrorGroup)
    .filter(({ retryable }) => status !== "retryable" || retryable);
  return Promise.all(
    groups.map(async (group) => {
      const files = await deps.store.artifactsOf(group.example.task_id);
      const idOf = (role: ArtifactRole) => files.findLast((file) => file.role === role)?.id ?? null;
      return {
        ...group,
        example: { ...group.example, screenshot_id: idOf("screenshot"), snapshot_id: idOf("snapshot") },
      };
    }),
  );
}

/** Reads at most this many runs of steps: few workflows have more active at once. */
const MOST_OPEN_STEPS = 20;

/** The runs a workflow waits for: while they retry, their failures count as its own. */
async function runsOfOpenSteps({ store }: OrchestratorDeps, id: string): Promise<string[]> {
  const steps = await store.stepsInBrief(id);
  const runs = steps.flatMap(({ task, waiting }) =>
    OPEN_TASK_STATES.includes(task.state) && waiting?.for === "run" ? [waiting.runId] : [],
  );
  return runs.slice(0, MOST_OPEN_STEPS);
}

/** Merges groups of several runs that have the same reason. */
function byReason(records: readonly RunErrorRecord[]): RunErrorRecord[] {
  const groups = new Map<string, RunErrorRecord>();
  for (const record of records) {
    const name = `${record.code} ${record.reason}`;
    const known = groups.get(name);
    groups.set(name, known === undefined ? record : together(known, record));
  }
  return [...groups.values()].toSorted((a, b) => b.count - a.count);
}

function together(a: RunErrorRecord, b: RunErrorRecord): RunErrorRecord {
  const next = [a.nextTryAt, b.nextTryAt].filter((at) => at !== undefined);
  return { ...a, count: a.count + b.count, ...(next.length === 0 ? {} : { nextTryAt: Math.min(...next) }) };
}

/** Selects failures to retry: all conditions must match; none: all failures. */
export interface RetryInput {
  failure_code?: FailureCode;
  failure_reason?: FailureReason;
  site?: string;
  task_ids?: readonly string[];
}

/**
 * Gives failed tasks fresh attempts and returns their number; an ended run is reopened. A run that ran out of time or
 * proxies also continues with its remaining tasks, unless only a part is requested.
 */
export async function retryFailedTasks(
  deps: AdmissionDeps,
  id: string,
  input: RetryInput = {},
): Promise<{ run: RunRecord; retried: number }> {
  const run = await requireRun(deps, id);
  if (run.kind === "workflow")
    throw new OrbError("illegal_transition", "single steps of a workflow cannot be retried", {
      hint: "Recover the workflow: POST /workflows/{id}/recover, or orb workflows recover ID.",
    });
  if (run.status === "cancelled")
    throw new OrbError("illegal_transition", `a run that is ${run.status} cannot be retried`, {
      hint: "Start a new run instead.",
    });
  const choice = choiceOf(input);
  const { left } = run.facts;
  const goesOn =
    (left?.time === true || left?.proxies === true || left?.saturated === true) && Object.keys(choice).length === 0;
  let retried = 0;
  if (goesOn) retried += await inPieces(deps, (window) => deps.store.goOn(id, window, deps.clock.now()));
  // Tasks that were waiting when the run ended are not included.
  else if (TERMINAL_RUN_STATES.includes(run.status))
    while ((await deps.store.sweepEnded(CHUNK, deps.clock.now(), id)) === CHUNK);
  retried += await requeueFailed(deps, id, choice);
  if (retried === 0 && !goesOn) throw await nothingFailed(deps, run, choice);
  if (run.kind === "crawl") await admitCrawls(deps);
  return { run: await requireRun(deps, id), retried };
}

function choiceOf({ failure_code: code, failure_reason: reason, site, task_ids: taskIds }: RetryInput): FailedChoice {
  const all = Object.keys(FAILURE_REASONS) as FailureReason[];
  const fits = (name: FailureReason) =>
    (code === undefined || FAILURE_REASONS[name] === code) && (reason === undefined || name === reason);
  return {
    ...(code === undefined && reason === undefined ? {} : { reasons: all.filter(fits) }),
    ...(site === undefined ? {} : { site: siteName(site) }),
    ...(taskIds === undefined ? {} : { taskIds }),
  };
}

/** Tasks moved per transaction; more would block other writers. */
const CHUNK = 1000;

/** Returns the number of requeued tasks. Tasks that fail again meanwhile wait for the next call. */
export async function requeueFailed(deps: OrchestratorDeps, id: string, choice: FailedChoice): Promise<number> {
  return inPieces(deps, (window) => deps.store.retryFailed(id, { ...choice, ...window }, deps.clock.now()));
}

async function inPieces(
  { wake }: Pick<OrchestratorDeps, "wake">,
  requeue: (window: RequeueWindow) => Promise<Requeued>,
): Promise<number> {
  let requeued = 0;
  for (let after: RequeuePosition | null | undefined; after !== null;) {
    const part = await requeue({ limit: CHUNK, ...(after === undefined ? {} : { after }) });
    requeued += part.requeued;
    if (part.lanes.length > 0) await wake(part.lanes);
    after = part.next;
  }
  return requeued;
}

async function nothingFailed({ store }: OrchestratorDeps, run: RunRecord, choice: FailedChoice): Promise<OrbError> {
  const groups = Object.keys(choice).length === 0 ? [] : await store.runErrors(run.id);
  if (groups.length === 0)
    return new OrbError("illegal_transition", "this run has no failed tasks", {
      hint: TERMINAL_RUN_STATES.includes(run.status) ? "Start a new run instead." : "Wait until it has ended.",
    });
  const causes = groups.slice(0, 5).map(({ code, reason, count }) => `${count} ${code} (${reason})`);
  return new OrbError("illegal_transition", "no failed task of this run matches the request", {
    hint: `Failed tasks: ${causes.join(", ")}${groups.length > causes.length ? ", and more" : ""}.`,
  });
}
