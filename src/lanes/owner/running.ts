import type { Clock } from "../../base/clock.ts";
import { TERMINAL_RUN_STATES } from "../../domain/run/states.ts";
import { shownUrl } from "../../domain/text/url.ts";
import type { ClaimedTask, Store } from "../../store/ports/port.ts";
import type { ActiveTask } from "../../store/ports/worker-port.ts";
import { TASK_STOPPED } from "./attempt.ts";

/** The running tasks of this process, over all lanes: `orb workers` shows them. */
export class ActiveTasks {
  readonly #tasks = new Map<number, { task: ClaimedTask; lane: string; startedAt: number }>();

  add(task: ClaimedTask, lane: string, startedAt: number): void {
    this.#tasks.set(task.row, { task, lane, startedAt });
  }

  remove(task: ClaimedTask): void {
    this.#tasks.delete(task.row);
  }

  /** The longest-running tasks. */
  list(most: number): ActiveTask[] {
    const list: ActiveTask[] = [];
    for (const { task, lane, startedAt } of this.#tasks.values()) {
      if (list.length === most) break;
      const url = task.nextUrl ?? task.url;
      list.push({ taskId: task.id, runId: task.runId, lane, url: url === null ? null : shownUrl(url), startedAt });
    }
    return list;
  }
}

/** The running tasks of one lane. */
export class Running {
  readonly #tasks = new Map<number, { controller: AbortController; task: ClaimedTask }>();
  readonly #active: ActiveTasks;
  readonly #lane: string;
  readonly #clock: Clock;

  constructor(active: ActiveTasks, lane: string, clock: Clock) {
    this.#active = active;
    this.#lane = lane;
    this.#clock = clock;
  }

  get size(): number {
    return this.#tasks.size;
  }

  /** The signal aborts when the task must stop. */
  start(task: ClaimedTask): AbortSignal {
    const controller = new AbortController();
    this.#tasks.set(task.row, { controller, task });
    this.#active.add(task, this.#lane, this.#clock.now());
    return controller.signal;
  }

  end(task: ClaimedTask): void {
    this.#tasks.delete(task.row);
    this.#active.remove(task);
  }

  abortAll(): void {
    for (const { controller } of this.#tasks.values()) controller.abort();
  }

  /** Aborts tasks of ended runs and tasks that were asked to stop; they settle like all others. */
  async abortUnwanted(store: Store): Promise<void> {
    if (this.#tasks.size === 0) return;
    const list = [...this.#tasks.values()];
    const states = await store.runStates([...new Set(list.map(({ task }) => task.runId))]);
    const stopped = await store.stoppedTasks(list.map(({ task }) => task.row));
    for (const { controller, task } of list) {
      const state = states.get(task.runId);
      if (state === undefined || TERMINAL_RUN_STATES.includes(state)) controller.abort();
      else if (stopped.has(task.row)) controller.abort(TASK_STOPPED);
    }
  }
}
