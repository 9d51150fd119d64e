import assert from "node:assert/strict";
import { request } from "undici";
import { TERMINAL_RUN_STATES } from "../../src/domain/states.ts";
import type { JobInput } from "../../src/orchestrator/jobs/input.ts";
import type { JobView } from "../../src/orchestrator/jobs/view.ts";
import type { EventView, ResultView, RunView, TaskView } from "../../src/orchestrator/runs/view.ts";
import type { SessionInput, SessionView } from "../../src/orchestrator/sessions.ts";
import type { CheckedApi } from "./answers.ts";

/** Longer than anything here takes on a busy machine. */
const PATIENCE_MS = 45_000;

/** What a user of the API does with jobs and runs. Waits for a run by its stream of events, never by asking again. */
export abstract class Caller {
  abstract get api(): CheckedApi;

  async job(input: JobInput): Promise<JobView> {
    const answer = await this.api.post("/jobs", input);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<JobView>();
  }

  async session(input: SessionInput): Promise<SessionView> {
    const answer = await this.api.post("/sessions", input);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<SessionView>();
  }

  /** Starts a run of a saved job, or of a new one. */
  async begin(job: string | JobInput): Promise<RunView> {
    const id = typeof job === "string" ? job : (await this.job(job)).id;
    const answer = await this.api.post(`/jobs/${id}/runs`);
    assert.equal(answer.status, 201, answer.text);
    return answer.json<RunView>();
  }

  /** Runs a job to its end. */
  async run(job: string | JobInput): Promise<RunView> {
    return this.ended((await this.begin(job)).id);
  }

  async show(id: string): Promise<RunView> {
    return (await this.api.get(`/jobs/runs/${id}`)).json<RunView>();
  }

  async events(id: string): Promise<EventView[]> {
    return (await this.api.get(`/jobs/runs/${id}/events?limit=1000`)).json<EventView[]>();
  }

  /** The one task of a page's run. */
  async task(id: string): Promise<TaskView> {
    const tasks = (await this.api.get(`/jobs/runs/${id}/tasks`)).json<TaskView[]>();
    assert.equal(tasks.length, 1);
    return tasks[0] as TaskView;
  }

  async results(id: string): Promise<ResultView[]> {
    return (await this.api.get(`/jobs/runs/${id}/results?limit=200`)).json<ResultView[]>();
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
    const { body, statusCode } = await request(`${this.api.url}/jobs/runs/${id}/events/stream`, {
      dispatcher: this.api.agent,
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    assert.equal(statusCode, 200);
    let text = "";
    try {
      for await (const chunk of body.setEncoding("utf8")) {
        text += String(chunk);
        this.api.answered.push(String(chunk));
        const blocks = text.split("\n\n");
        text = blocks.pop() ?? "";
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (!block.includes("event: run_event") || data === undefined) continue;
          const event = JSON.parse(data) as EventView;
          if (isIt(event)) return event;
        }
      }
    } catch (error) {
      const told = JSON.stringify((await this.events(id)).map(({ message }) => message));
      throw new Error(`waited ${PATIENCE_MS} ms in vain for the run: ${told}`, { cause: error });
    } finally {
      body.destroy();
    }
    return null;
  }
}
