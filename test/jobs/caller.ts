import assert from "node:assert/strict";
import type { OrbweaverClient } from "../../src/api-client/client.ts";
import { TERMINAL_RUN_STATES } from "../../src/domain/run/states.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, ResultView, RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import type { SessionInput, SessionView } from "../../src/orchestrator/sessions.ts";
import type { CheckedApi } from "./answers.ts";
import { PATIENCE_MS } from "../support/patience.ts";

/** What a user of the API does with jobs and runs. Waits for a run by its stream of events, never by asking again. */
export abstract class Caller {
  abstract get api(): CheckedApi;

  get client(): OrbweaverClient {
    return this.api.client;
  }

  async job(input: JobInput): Promise<JobView> {
    return (await this.client.jobs.create(input as never)) as JobView;
  }

  async session(input: SessionInput): Promise<SessionView> {
    return this.client.sessions.create(input as never);
  }

  /** Starts a run of a saved job, or of a new one. */
  async begin(job: string | JobInput): Promise<RunView> {
    return this.client.jobs.run(typeof job === "string" ? job : (await this.job(job)).id);
  }

  /** Runs a job to its end. */
  async run(job: string | JobInput): Promise<RunView> {
    return this.ended((await this.begin(job)).id);
  }

  show(id: string): Promise<RunView> {
    return this.client.runs.get(id);
  }

  events(id: string): Promise<EventView[]> {
    return this.client.runs.events(id, { limit: 1000 });
  }

  /** The one task of a page's run. */
  async task(id: string): Promise<TaskView> {
    const tasks = await this.client.runs.tasks(id).take();
    assert.equal(tasks.length, 1);
    return tasks[0] as TaskView;
  }

  results(id: string): Promise<ResultView[]> {
    return this.client.runs.results(id, { limit: 200 }).take();
  }

  /** Follows the run's events until it has ended. */
  async ended(id: string): Promise<RunView> {
    await this.follow(id, () => false);
    const run = await this.show(id);
    assert.ok(TERMINAL_RUN_STATES.includes(run.status), `the stream ends with the run: ${JSON.stringify(run)}`);
    return run;
  }

  /** Follows the run's events until one of them says this. */
  async said(id: string, what: RegExp): Promise<EventView> {
    const found = await this.follow(id, ({ message }) => what.test(message));
    assert.ok(found !== null, `the run ended without saying ${what}: ${JSON.stringify(await this.events(id))}`);
    return found;
  }

  /** The first event that is looked for, or null when the run ended without it. */
  async follow(id: string, isIt: (event: EventView) => boolean): Promise<EventView | null> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    try {
      // Cut off is not what is tested here: it ends with the run, or not at all.
      for await (const event of this.client.followRun(id, { signal, reconnects: 0 })) if (isIt(event)) return event;
    } catch (error) {
      const told = JSON.stringify((await this.events(id)).map(({ message }) => message));
      throw new Error(`waited ${PATIENCE_MS} ms in vain for the run: ${told}`, { cause: error });
    }
    return null;
  }
}
