import assert from "node:assert/strict";
import { type Client, openClient } from "../../src/app/context.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import type { StepResult } from "../../src/domain/workflow/definition.ts";
import { cancelRun } from "../../src/orchestrator/runs/control.ts";
import type { RunRecord } from "../../src/store/ports/port.ts";
import type { StepRecord } from "../../src/store/ports/workflow-port.ts";
import { readItems } from "../../src/workflows/items/items-file.ts";
import type { Item } from "../../src/workflows/step-kind.ts";
import { TestServer } from "../jobs/kit.ts";
import { holdEventsToCatalogue } from "../support/known-events.ts";
import { PATIENCE_MS } from "../support/patience.ts";

export interface StepInput {
  name: string;
  task_type: string;
  params?: Record<string, unknown>;
  [more: string]: unknown;
}

/** A server with its worker, workflows that are sent to it, and a look into its store. */
export class Workshop implements AsyncDisposable {
  readonly server: TestServer;
  #client: Client;

  private constructor(server: TestServer, client: Client) {
    this.server = server;
    this.#client = client;
  }

  static async open(env: Record<string, string> = {}): Promise<Workshop> {
    const server = await TestServer.open(env);
    return new Workshop(server, await openClient(server.config));
  }

  get store(): Client["store"] {
    return this.#client.store;
  }

  /** Starts a workflow of these steps; its id. */
  async begin(steps: readonly StepInput[], params: Record<string, JsonValue> = {}): Promise<string> {
    const schema = { type: "object", properties: Object.fromEntries(Object.keys(params).map((name) => [name, {}])) };
    const definition = { name: "Test", params: schema, steps };
    const answer = await this.server.api.post("/workflows", { definition, params });
    assert.equal(answer.status, 201, answer.text);
    return answer.json<{ id: string }>().id;
  }

  /** The run, once it has ended. */
  async ended(id: string): Promise<RunRecord> {
    await this.server.ended(id);
    return (await this.store.run(id)) as RunRecord;
  }

  async run(steps: readonly StepInput[], params: Record<string, JsonValue> = {}): Promise<Finished> {
    const id = await this.begin(steps, params);
    return this.finished(id);
  }

  async finished(id: string): Promise<Finished> {
    const run = await this.ended(id);
    const steps = new Map((await this.store.steps(id)).map((step) => [step.name, step]));
    return { id, run, steps, states: Object.fromEntries([...steps].map(([name, { task }]) => [name, task.state])) };
  }

  async step(id: string, name: string): Promise<StepRecord> {
    const found = (await this.store.steps(id)).find((step) => step.name === name);
    assert.ok(found !== undefined, `there is a step ${name}`);
    return found;
  }

  /** Looks again and again until it is so: for what makes no event. */
  async until<T>(look: () => Promise<T | null | false>, what: string): Promise<T> {
    const end = performance.now() + PATIENCE_MS;
    for (;;) {
      const found = await look();
      if (found !== null && found !== false) return found;
      assert.ok(performance.now() < end, `waited in vain until ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  /** The step once it sleeps for something of this kind. */
  asleep(id: string, name: string, kind: "time" | "run" | "items"): Promise<StepRecord> {
    return this.until(async () => {
      const step = await this.step(id, name);
      return step.waiting?.for === kind ? step : null;
    }, `${name} sleeps for ${kind}`);
  }

  cancel(id: string): Promise<RunRecord> {
    return cancelRun(this.#client, id);
  }

  async items(step: StepRecord): Promise<Item[]> {
    const { items } = step.task.detail as StepResult;
    assert.ok(items !== null, `${step.name} has items`);
    const list: Item[] = [];
    for await (const item of readItems(this.#client.artifacts, items)) list.push(item);
    assert.equal(list.length, items.count);
    return list;
  }

  /** What a file that the step has made says. */
  async files(step: StepRecord): Promise<string[]> {
    const created = (await this.store.artifactsOf(step.task.id)).filter(({ role }) => role === "file");
    return Promise.all(
      created.map(async ({ hash }) => (await (await this.#client.artifacts.open(hash)).toArray()).join("")),
    );
  }

  /** The server ends and starts again, with the same data. */
  async restart(env: Record<string, string> = {}): Promise<void> {
    await this.server.stop();
    await this.server.start({ env });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.close();
    const { database } = this.server.config;
    if (database.kind === "sqlite") holdEventsToCatalogue(database.path);
    await this.server[Symbol.asyncDispose]();
  }
}

export interface Finished {
  id: string;
  run: RunRecord;
  steps: Map<string, StepRecord>;
  states: Record<string, string>;
}

export function outputOf(step: StepRecord | undefined): Record<string, JsonValue> {
  assert.equal(step?.task.state, "completed", JSON.stringify(step?.task.failure));
  return (step.task.detail as StepResult).output as Record<string, JsonValue>;
}

/** A promise that the test keeps. */
export function signal(): { promise: Promise<void>; give: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { promise, give: () => resolve() };
}
