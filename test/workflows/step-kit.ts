import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { ArtifactStore } from "../../src/artifacts/port.ts";
import { createArtifactStore } from "../../src/artifacts/store.ts";
import { type Clock, systemClock } from "../../src/base/clock.ts";
import { createLog } from "../../src/base/log.ts";
import { seededRandom } from "../../src/base/random.ts";
import type { TaskArtifact } from "../../src/domain/run/outcome.ts";
import type { JsonValue } from "../../src/domain/lane/queue-item.ts";
import { BufferSink } from "../../src/net/buffer-sink.ts";
import { stepFiles } from "../../src/workflows/step-files.ts";
import type { Item, StepContext, StepEnd, StepKind, RunHistory } from "../../src/workflows/step-kind.ts";
import { type TestClient, testClient } from "../support/net.ts";
import { tempDir } from "../support/temp-dir.ts";

export interface StepSetting {
  inputs?: readonly Item[];
  itemsOf?: Readonly<Record<string, readonly Item[]>>;
  lastRun?: Readonly<Record<string, readonly Item[]>>;
  past?: RunHistory;
  outputs?: Readonly<Record<string, JsonValue>>;
  signal?: AbortSignal;
  /** robots.txt by origin. */
  robots?: Readonly<Record<string, string>>;
}

/** What a step gave, its items gathered. */
export type Ended = Exclude<StepEnd, { kind: "done" }> | DoneStep;

export interface DoneStep {
  kind: "done";
  output: Readonly<Record<string, JsonValue>>;
  items: Item[];
  files: readonly TaskArtifact[];
}

/** Runs kinds of steps by themselves, on a real artifact store in a folder of its own and a client that may use loopback. */
export class StepHarness implements AsyncDisposable {
  readonly #folder = tempDir();
  readonly #client: TestClient = testClient();
  readonly artifacts: ArtifactStore;
  /** What steps said of their progress. */
  readonly progress: { done: number; total: number | null; message: string | undefined }[] = [];
  readonly log: string[] = [];

  constructor(clock: Clock = systemClock) {
    this.artifacts = createArtifactStore({ dir: this.#folder.path, clock });
  }

  get dir(): string {
    return this.#folder.path;
  }

  /** Stores bytes, and gives the item that a download would give. */
  async file(bytes: Buffer | string, more: Item = {}): Promise<Item & { hash: string }> {
    const writer = this.artifacts.writer();
    await writer.write(Buffer.from(bytes));
    const { hash, size } = await writer.finish();
    return { url: `https://files.example/${hash.slice(0, 8)}`, hash, bytes: size, ...more };
  }

  async read(hash: string): Promise<Buffer> {
    return Buffer.concat(await gathered<Buffer>(await this.artifacts.open(hash)));
  }

  context(setting: StepSetting = {}): StepContext {
    const { inputs = [], itemsOf = {}, lastRun } = setting;
    return {
      signal: setting.signal ?? new AbortController().signal,
      clock: systemClock,
      random: seededRandom(1),
      log: createLog({ level: "debug", pretty: false, write: (line) => void this.log.push(line) }),
      run: { id: "8f6f2f38-4d7c-4a57-8a6e-1f1ad3ba7c01", name: "a workflow", jobId: null },
      step: { name: "step", index: 1, attempt: 1 },
      item: undefined,
      memory: null,
      child: null,
      children: [],
      outputs: setting.outputs ?? {},
      inputs: () => stream(inputs),
      itemsOf(step) {
        const items = itemsOf[step];
        assert.ok(items !== undefined, `there is a step ${step}`);
        return stream(items);
      },
      async itemsOfLastRun(step) {
        const items = lastRun?.[step];
        return items === undefined ? null : { [Symbol.asyncIterator]: () => stream(items) };
      },
      robotsOf: async (origin) => {
        const body = setting.robots?.[origin];
        return body === undefined ? null : { body: Buffer.from(body), fetchedAt: Date.parse("2026-11-01T08:00:00Z") };
      },
      past: setting.past ?? { filesOf: () => stream([]), drop: async () => ({ rows: 0, bytes: 0 }) },
      files: stepFiles(this.artifacts, "step:step"),
      http: {
        fetch: async ({ body, headers, ...request }) => {
          const sink = new BufferSink();
          const signal = setting.signal === undefined ? {} : { signal: setting.signal };
          const sent = body === undefined ? {} : { body: typeof body === "string" ? body : Buffer.from(body) };
          const wanted = { ...request, ...sent, ...signal, headers: { ...headers }, followRedirects: () => false };
          const answer = await this.#client.fetch(wanted, sink);
          return { status: answer.status, url: answer.url, headers: answer.headers, body: sink.body() };
        },
      },
      progress: (done, total, message) => void this.progress.push({ done, total, message }),
    };
  }

  /** One try, with params as a definition has them: what their schema refuses is the test's failure. */
  async run<P>(kind: StepKind<P>, params: Record<string, JsonValue>, setting: StepSetting = {}): Promise<Ended> {
    assert.deepEqual(faultsOf(kind, params), []);
    const end = await kind.run(this.context(setting), structuredClone(params) as P);
    if (end.kind !== "done") return end;
    // As the next step would read them.
    const items = (await gathered(end.items ?? [])).map((item) => JSON.parse(JSON.stringify(item)) as Item);
    assert.deepEqual(JSON.parse(JSON.stringify(end.output)), end.output, "the output is JSON");
    return { kind: "done", output: end.output, items, files: end.files ?? [] };
  }

  /** The same, of a step that is done after one try. */
  async done<P>(kind: StepKind<P>, params: Record<string, JsonValue>, setting: StepSetting = {}): Promise<DoneStep> {
    const end = await this.run(kind, params, setting);
    assert.ok(end.kind === "done", `it is done, not ${end.kind}`);
    return end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client[Symbol.asyncDispose]();
    this.#folder[Symbol.dispose]();
  }
}

/** What the schema of a kind has against these params; none: it takes them. */
export function faultsOf(kind: Pick<StepKind<never>, "params">, params: JsonValue): string[] {
  const check = new Ajv2020({ allErrors: true, strict: true, strictTypes: false, strictRequired: false }).compile(
    kind.params as object,
  );
  check(params);
  return (check.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`.trim());
}

async function* stream<T>(list: readonly T[]): AsyncGenerator<T> {
  for (const item of list) yield structuredClone(item);
}

export async function gathered<T>(list: AsyncIterable<T> | Iterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const element of list) all.push(element);
  return all;
}
